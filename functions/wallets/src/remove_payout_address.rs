//! Contract of `DELETE /artists/payout-addresses?address=`.

use serde::Serialize;
use shared::{http::FromFields, model::Address};
use utoipa::{IntoParams, ToSchema};

/// The address.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RemovePayoutAddressQuery {
    /// The account.
    pub address: Address,
}

#[derive(Serialize, ToSchema)]
pub struct RemovePayoutAddressResponse {
    /// The address is removed.
    pub success: bool,
}

/// Remove a payout address
///
/// Withdrawals to this address are refused from now on.
#[utoipa::path(
    delete,
    path = "/artists/payout-addresses",
    tag = "Artists",
    security(("token" = [])),
    params(RemovePayoutAddressQuery),
    responses((status = 200, description = "The address is removed.", body = RemovePayoutAddressResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn remove_payout_address() {}
