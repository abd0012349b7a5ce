//! Request, answer and description of `POST /artists/payout-addresses`.

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
/// Money can be withdrawn to it 24 hours later; to a connected wallet it can at once. Needs a sign-in within 15 minutes. The
/// artist gets a mail about it. At most 20 addresses; one that is there keeps its time.
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
