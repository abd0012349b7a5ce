use shared::api::artist::ArtistResponse;

use super::ReadArtistPath;

/// Read an artist
///
/// By any of the artist's wallets.
#[utoipa::path(
    get,
    path = "/artists/{address}",
    tag = "Artists",
    params(ReadArtistPath),
    responses((status = 200, description = "The artist.", body = ArtistResponse)),
)]
fn read_artist() {}

openapi::published!(read_artist, 404);
