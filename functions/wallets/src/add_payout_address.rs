//! Contract of `POST /artists/payout-addresses`.

use shared::{http::FromFields, model::CheckedAddress};
use utoipa::ToSchema;

use crate::PayoutView;

/// The address.
#[derive(FromFields, ToSchema)]
pub struct AddPayoutAddressRequest {
    /// Account that money can be withdrawn to.
    pub address: CheckedAddress,
}

/// Add a payout address
///
/// Withdrawals to it are possible after 24 hours, as to a connected wallet. Needs a sign-in within the
/// last 15 minutes. The artist is notified by mail. At most 20 addresses. Adding an existing one doesn't restart its
/// 24 hours.
#[utoipa::path(
    post,
    path = "/artists/payout-addresses",
    tag = "Artists",
    security(("token" = [])),
    request_body(
        content = AddPayoutAddressRequest,
        example = json!({"address": "0x00000000000000000000000000000000000000a1"}),
    ),
    responses((status = 200, description = "The address.", body = PayoutView)),
    extensions(("x-errors" = json!([403, 409]))),
)]
pub fn add_payout_address() {}
