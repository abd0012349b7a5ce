//! Contract of `GET /artists/payout-addresses`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::PayoutView;

#[derive(Serialize, ToSchema)]
pub struct ListPayoutAddressesResponse {
    /// Ordered by address.
    pub addresses: Vec<PayoutView>,
}

/// List payout addresses
///
/// Connected wallets aren't included: withdrawals to them need no payout address.
#[utoipa::path(
    get,
    path = "/artists/payout-addresses",
    tag = "Artists",
    security(("token" = [])),
    responses((status = 200, description = "The addresses.", body = ListPayoutAddressesResponse)),
    extensions(("x-errors" = json!([403]))),
)]
pub fn list_payout_addresses() {}
