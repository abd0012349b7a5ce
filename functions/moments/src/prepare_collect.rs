//! Request, answer and description of `POST /moment/collect/prepare`.

use shared::{
    api::prepare::PreparedCalls,
    http::FromFields,
    model::{Address, Amount, CheckedAddress, MomentRef, Recipient},
};
use utoipa::ToSchema;

use crate::collect_moment::{Quantity, Remark};

/// An order of a wallet.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PrepareCollectRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Number of tokens.
    #[schema(value_type = u16, minimum = 1, maximum = 1000)]
    pub amount: Quantity,
    /// The wallet that will send the calls, pays, and gets the tokens.
    #[schema(value_type = Address)]
    pub account: CheckedAddress,
    /// The collector's comment, without control characters.
    #[schema(value_type = Option<String>, default = "", max_length = 1000, pattern = r"^([^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*)?$")]
    pub comment: Remark,
    /// Most that the order may cost, in the smallest unit of the sale's currency, with every fee that is paid in it.
    pub max_price: Option<Amount>,
    /// Who sent the collector, as in `POST /moment/collect`; nobody who shares a wallet with `account`.
    pub referral: Option<Recipient>,
}

/// Prepare a wallet's collect
///
/// What any wallet sends to collect a moment, tried on the newest block; nothing is sent or stored. No sign-in. Without
/// enough money 402 says what is missing.
#[utoipa::path(
    post,
    path = "/moment/collect/prepare",
    tag = "Moments",
    request_body(content = PrepareCollectRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "amount": 1,
        "account": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    })),
    responses((status = 200, description = "The calls.", body = PreparedCalls)),
    extensions(("x-errors" = json!([402, 404, 409, 422, 429, 502, 503]))),
)]
pub fn prepare_collect() {}
