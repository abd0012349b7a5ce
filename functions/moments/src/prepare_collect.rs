//! Request, answer and description of `POST /moment/collect/prepare`.

use serde::Serialize;
use shared::{
    api::transact::Cost,
    chain::wallet::Call,
    http::FromFields,
    model::{Address, Amount, ChainId, CheckedAddress, MomentRef},
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
}

/// Calls for the wallet, in this order: as `wallet_sendCalls` (EIP-5792) takes them, or as transactions one by one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrepareCollectResponse {
    pub chain_id: ChainId,
    /// An approval comes first where the sale's currency has one and the wallet's allowance doesn't suffice.
    #[schema(max_items = 2)]
    pub calls: Vec<PreparedCall>,
    /// What it costs in the sale's currency.
    pub cost: PreparedCost,
    /// The protocol's fee, where it is paid in another currency.
    #[schema(required = true)]
    pub fee: Option<PreparedCost>,
    /// Whether the calls succeeded when they were tried on the newest block.
    pub simulated: bool,
}

/// A call.
#[derive(Serialize, ToSchema)]
pub struct PreparedCall {
    /// Contract that is called.
    pub to: Address,
    /// Selector and arguments.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]*$", example = "0x731133e9")]
    pub data: String,
    /// Wei that go along, in hexadecimal digits as wallets take them.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]+$", example = "0x38d7ea4c68000")]
    pub value: String,
}

/// An amount of a currency.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCost {
    /// Its symbol.
    #[schema(example = "ETH")]
    pub currency: &'static str,
    /// In the smallest unit.
    pub amount: Amount,
    /// In the main unit.
    #[schema(example = "0.001")]
    pub decimal_amount: String,
}

impl From<&Call> for PreparedCall {
    fn from(call: &Call) -> Self {
        Self { to: call.target.into(), data: call.data.to_string(), value: format!("{:#x}", call.value) }
    }
}

impl From<Cost> for PreparedCost {
    fn from(Cost { currency, amount }: Cost) -> Self {
        let decimal_amount = Amount(amount).decimal(currency.decimals.into());
        Self { currency: currency.symbol, amount: Amount(amount), decimal_amount }
    }
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
    responses((status = 200, description = "The calls.", body = PrepareCollectResponse)),
    extensions(("x-errors" = json!([402, 404, 409, 422, 429, 502, 503]))),
)]
pub fn prepare_collect() {}
