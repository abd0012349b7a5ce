use super::{RemovePayoutAddressQuery, RemovePayoutAddressResponse};

/// Remove a payout address
///
/// Money can go there no longer.
#[utoipa::path(
    delete,
    path = "/artists/payout-addresses",
    tag = "Artists",
    security(("token" = [])),
    params(RemovePayoutAddressQuery),
    responses((status = 200, description = "It is removed.", body = RemovePayoutAddressResponse)),
)]
fn remove_payout_address() {}

openapi::published!(remove_payout_address, 403, 404);
