use shared::api::artist::WalletsResponse;

use super::DisconnectWalletQuery;

/// Disconnect a wallet
///
/// The embedded wallet can't be disconnected.
#[utoipa::path(
    delete,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = [])),
    params(DisconnectWalletQuery),
    responses((status = 200, description = "Your remaining wallets.", body = WalletsResponse)),
)]
fn disconnect_wallet() {}

openapi::published!(disconnect_wallet, 403, 404, 409);
