use shared::profile::WalletsResponse;

/// List wallets
///
/// Your own: the one that the service keeps first.
#[utoipa::path(
    get,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = []), ("apiKey" = [])),
    responses((status = 200, description = "Your wallets.", body = WalletsResponse)),
)]
fn list_wallets() {}

contract::published!(list_wallets);
