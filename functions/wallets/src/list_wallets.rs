//! Contract of `GET /artists/wallets`.

use crate::WalletsResponse;

/// List wallets
///
/// The embedded wallet comes first.
#[utoipa::path(
    get,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = []), ("apiKey" = [])),
    responses((status = 200, description = "Your wallets.", body = WalletsResponse)),
)]
pub fn list_wallets() {}
