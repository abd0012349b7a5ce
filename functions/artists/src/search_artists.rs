//! Contract of `GET /artists/search`.

use std::str::FromStr;

use serde::Serialize;
use shared::{
    api::read::Site,
    http::{Form, FromFields, Scalar},
    model::{Address, FoldedName, Invalid, Username},
    store::artist::ListedArtist,
};
use utoipa::{IntoParams, ToSchema};

/// A prefix and the number of results.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchArtistsQuery {
    /// Prefix of their names; no name has more than 32 characters.
    #[param(value_type = String, min_length = 1, pattern = r"[^\s\x85]", example = "ada")]
    pub query: Prefix,
    /// Most results.
    #[param(value_type = u32, minimum = 1, maximum = 50, default = 10, required = false)]
    pub limit: SearchLimit,
}

/// Artists whose names start alike.
#[derive(Serialize, ToSchema)]
pub struct SearchArtistsResponse {
    /// Sorted by name.
    pub artists: Vec<FoundArtist>,
}

/// An artist in search results.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedArtist)]
pub struct FoundArtist {
    /// The artist's embedded wallet.
    address: Address,
    /// Username as the artist writes it; never empty.
    username: String,
    /// The artist's page for people.
    #[schema(format = "uri")]
    page: String,
}

impl FoundArtist {
    pub fn of(artist: ListedArtist, site: &Site) -> Self {
        let ListedArtist { address, username } = artist;
        Self { page: site.artist(&username, address), address, username }
    }
}

/// A prefix of names, without surrounding space; none where no name is as long.
pub struct Prefix(pub Option<FoldedName>);

/// 1 to 50.
pub struct SearchLimit(pub u32);

/// Search artists
///
/// By a prefix of their names, in any letter case.
#[utoipa::path(
    get,
    path = "/artists/search",
    tag = "Artists",
    params(SearchArtistsQuery),
    responses((status = 200, description = "The artists, sorted by name.", body = SearchArtistsResponse)),
)]
pub fn search_artists() {}

impl Scalar for Prefix {}

impl FromStr for Prefix {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Invalid("must have at least one character"));
        }
        Ok(Self((text.chars().count() <= Username::MOST_CHARACTERS).then(|| FoldedName::of(text))))
    }
}

impl Scalar for SearchLimit {
    const FORM: Form = Form::Number;
}

impl FromStr for SearchLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = text.parse().ok().filter(|limit| digits && (1..=50).contains(limit));
        limit.map(Self).ok_or(Invalid("must be a whole number from 1 to 50"))
    }
}
