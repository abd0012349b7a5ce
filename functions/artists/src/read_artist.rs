//! Contract of `GET /artists/{address}` and `GET /artists/me`.

use shared::{http::FromFields, model::ArtistName};
use utoipa::IntoParams;

use crate::profile::ArtistResponse;

/// An artist.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ReadArtistPath {
    /// One of the artist's wallets, or the username.
    #[param(example = "0x540c18b7f99b3b599c6feb99964498931c211858")]
    pub address: ArtistName,
}

/// Read an artist
///
/// By any of the artist's wallets, or by the username.
#[utoipa::path(
    get,
    path = "/artists/{address}",
    tag = "Artists",
    params(ReadArtistPath),
    responses((status = 200, description = "The artist.", body = ArtistResponse)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_artist() {}

/// Read my profile
///
/// The artist of the token or API key, as others see them.
#[utoipa::path(
    get,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = []), ("apiKey" = [])),
    responses((status = 200, description = "The artist.", body = ArtistResponse)),
)]
pub fn read_own_artist() {}
