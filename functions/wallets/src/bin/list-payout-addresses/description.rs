use super::ListPayoutAddressesResponse;

/// List payout addresses
///
/// Connected wallets aren't among them: money can be withdrawn to these at once.
#[utoipa::path(
    get,
    path = "/artists/payout-addresses",
    tag = "Artists",
    security(("token" = [])),
    responses((status = 200, description = "The addresses.", body = ListPayoutAddressesResponse)),
)]
fn list_payout_addresses() {}

openapi::published!(list_payout_addresses, 403);
