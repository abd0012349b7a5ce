//! Request and description of `POST /splits/distribute`.

use shared::{
    api::transact::SentTransaction,
    http::FromFields,
    model::{Address, ChainId, CurrencyName},
};
use utoipa::ToSchema;

/// The split, and what it pays out.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DistributeSplitRequest {
    /// The split.
    pub split_address: Address,
    /// `ETH`, `USDC` or a contract; by default all of which anything waits.
    #[schema(value_type = Option<String>, pattern = "^(ETH|USDC|0x[0-9a-fA-F]{40})$")]
    pub currency: Option<CurrencyName>,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// Pay out a split
///
/// Pays what is in a split to its recipients. Anyone may ask for it. A remainder that can't be divided stays in it.
#[utoipa::path(
    post,
    path = "/splits/distribute",
    tag = "Splits",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = DistributeSplitRequest, example = json!({
        "splitAddress": "0x540c18b7f99b3b599c6feb99964498931c211858",
        "currency": "USDC",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn distribute_split() {}
