use shared::{model::Address, profile::ArtistResponse};

/// Read an artist
///
/// By any of their wallets.
#[utoipa::path(
    get,
    path = "/artists/{address}",
    tag = "Artists",
    params(("address" = Address, Path, description = "One of the artist's wallets.")),
    responses((status = 200, description = "The artist.", body = ArtistResponse)),
)]
fn read_artist() {}

contract::published!(read_artist, 404);
