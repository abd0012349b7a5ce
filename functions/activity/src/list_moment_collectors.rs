//! Contract of `GET /moment/collectors`.

use alloy::primitives::B256;
use serde::Serialize;
use shared::{
    api::{
        read::Pagination,
        request::{PageQuery, UntilQuery},
    },
    http::FromFields,
    model::{Address, Amount, ChainId, EventId, PageStart, TokenId, TransferType},
};
use utoipa::{IntoParams, ToSchema};

/// The moment and the page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ListMomentCollectorsQuery {
    /// The moment's collection.
    pub collection_address: Address,
    /// The moment's token.
    pub token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    pub chain_id: ChainId,
    #[param(ignore)]
    #[field(flatten)]
    pub start: PageStart,
}

/// A page of collectors.
#[derive(Serialize, ToSchema)]
pub struct ListMomentCollectorsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub collectors: Vec<MomentCollector>,
    pub pagination: Pagination,
}

/// An account that got tokens of the moment; listed each time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MomentCollector {
    pub id: EventId,
    /// The account.
    pub collector: Address,
    /// Empty without a name.
    pub username: String,
    pub r#type: TransferType,
    /// Number of tokens.
    pub amount: Amount,
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
    /// Unix time in milliseconds.
    pub timestamp: u64,
}

/// List a moment's collectors
///
/// Who got tokens of it, newest first: through a sale, by an airdrop, from another account.
#[utoipa::path(
    get,
    path = "/moment/collectors",
    tag = "Moments",
    params(ListMomentCollectorsQuery, PageQuery, UntilQuery),
    responses((status = 200, description = "The page.", body = ListMomentCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_moment_collectors() {}
