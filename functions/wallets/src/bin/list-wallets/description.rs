use shared::api::artist::WalletsResponse;

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
fn list_wallets() {}

openapi::published!(list_wallets);
