//! `GET /artists/search`: artists by a prefix of their names.

#[cfg(test)]
mod description;

use std::str::FromStr;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, Form, FromFields, Request, Response, Scalar, StartError, serve},
    model::{FoldedName, Invalid},
    store::artist::{ArtistTable, ListedArtist, Search},
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SearchArtists>().await
}

struct SearchArtists {
    search: Search,
}

/// A prefix and the number of results.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchArtistsQuery {
    /// Prefix of their names.
    #[param(value_type = String, min_length = 1, max_length = 32, pattern = r"[^\s\x85]", example = "ada")]
    query: Prefix,
    /// Most results.
    #[param(value_type = u32, minimum = 1, maximum = 50, default = 10, required = false)]
    limit: SearchLimit,
}

/// Artists whose names start alike.
#[derive(Serialize, ToSchema)]
struct SearchArtistsResponse {
    /// Sorted by name.
    artists: Vec<ListedArtist>,
}

/// A prefix of a name: 1 to 32 literal characters, without surrounding space.
struct Prefix(FoldedName);

/// 1 to 50.
struct SearchLimit(u32);

impl Endpoint for SearchArtists {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { search: Search::new(ArtistTable::from_env(&config::aws().await)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SearchArtistsQuery { query, limit } = request.query().read()?;
        let artists = self.search.by_beginning(&query.0, limit.0).await?;
        Response::public(&SearchArtistsResponse { artists })
    }
}

impl Scalar for Prefix {}

impl FromStr for Prefix {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let fits = (1..=32).contains(&text.chars().count());
        if fits { Ok(Self(FoldedName::of(text))) } else { Err(Invalid("must have 1 to 32 characters")) }
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
