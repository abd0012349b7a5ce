//! Request and description of `POST /moment/collect`.

use std::str::FromStr;

use shared::{
    api::transact::SentTransaction,
    http::{Form, FromFields, Scalar},
    model::{Amount, CommentText, Invalid, MomentRef, Recipient, Whole},
};
use utoipa::ToSchema;

/// An order.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CollectMomentRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Number of tokens.
    #[schema(value_type = u16, minimum = 1, maximum = 1000)]
    pub amount: Quantity,
    /// The collector's comment, without control characters.
    #[schema(value_type = Option<String>, default = "", max_length = 1000, pattern = r"^([^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*)?$")]
    pub comment: Remark,
    /// Most that the order may cost, in the smallest unit of the sale's currency, with every fee that is paid in it. If it
    /// costs more, nothing is bought.
    pub max_price: Option<Amount>,
    /// Who sent the collector, by address or username: gets the protocol's reward for it, out of what the order costs
    /// anyway. Nobody is their own. By default the operator, if configured.
    pub referral: Option<Recipient>,
}

/// Tokens per order: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity(pub u64);

/// A comment of up to 1000 characters, without control characters; may be empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Remark(pub String);

impl Scalar for Quantity {
    const FORM: Form = Form::Number;
}

impl Scalar for Remark {}

impl FromStr for Quantity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(Whole(number @ 1..=1_000)) => Ok(Self(number)),
            _ => Err(Invalid("must be a whole number from 1 to 1000")),
        }
    }
}

impl FromStr for Remark {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_short = text.is_empty() || text.parse::<CommentText>().is_ok();
        if !is_short || text.contains(char::is_control) {
            return Err(Invalid("must be up to 1000 characters long, without control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Collect a moment
///
/// The artist's embedded wallet gets the tokens and pays the sale's price and the protocol's mint fee. With
/// `maxPrice`, a dearer order is 409 with the `price` now. Counts against the key's daily limit. To collect the same again
/// within ten minutes, send an `Idempotency-Key`. Above a key's default limit, a token needs a sign-in within the last 15
/// minutes, and the artist is notified by mail.
#[utoipa::path(
    post,
    path = "/moment/collect",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CollectMomentRequest, example = json!({"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}, "amount": 1, "comment": "The light on the water!"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn collect_moment() {}
