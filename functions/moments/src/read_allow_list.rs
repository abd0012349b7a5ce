//! Request, answer and description of `GET /moment/allow-list`.

use alloy::primitives::B256;
use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, AllowListView, Amount, ChainId, TokenId, WholeText},
};
use utoipa::{IntoParams, ToSchema};

/// The moment, and whose entry.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ReadAllowListQuery {
    /// The moment's collection.
    pub collection_address: Address,
    /// The moment's token.
    pub token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    pub chain_id: ChainId,
    /// The account.
    pub account: Address,
}

/// What an account may collect, and the arguments that prove it to the chain's strategy: account, `maxAmount`, `price`
/// and `proof`, in this order.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadAllowListResponse {
    /// The account.
    pub account: Address,
    /// Most tokens; 0 means unlimited.
    pub max_amount: WholeText,
    /// Wei per token, without the protocol's fee.
    pub price: Amount,
    /// Hashes from the entry to the list's root.
    #[schema(value_type = Vec<String>)]
    pub proof: Vec<B256>,
    /// The strategy's contract.
    pub minter: Address,
    /// The sale.
    pub allow_list: AllowListView,
}

/// Read an account's place on a list
///
/// Its entry on the list that the moment is sold to, with the proof, for any wallet to collect with. 404 if it isn't on
/// the list, or the moment has none.
#[utoipa::path(
    get,
    path = "/moment/allow-list",
    tag = "Moments",
    params(ReadAllowListQuery),
    responses((status = 200, description = "The entry.", body = ReadAllowListResponse)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_allow_list() {}
