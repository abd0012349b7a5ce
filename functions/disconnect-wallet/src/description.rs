use shared::profile::WalletsResponse;

use super::DisconnectWalletQuery;

/// Disconnect a wallet
///
/// All but the account that the service keeps for you.
#[utoipa::path(
    delete,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = []), ("apiKey" = [])),
    params(DisconnectWalletQuery),
    responses((status = 200, description = "Your remaining wallets.", body = WalletsResponse)),
)]
fn disconnect_wallet() {}

contract::published!(disconnect_wallet, 404, 409);
