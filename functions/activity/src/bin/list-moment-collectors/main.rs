//! `GET /moment/collectors`: who got tokens of a moment, newest first.

#[cfg(test)]
mod description;

use alloy::primitives::B256;
use serde::Serialize;
use shared::{
    api::read::{Pagination, Reader},
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, Amount, ChainId, EventId, Page, TokenId, TransferType},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, TransferList, Transfers},
    },
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListMomentCollectors>().await
}

struct ListMomentCollectors {
    transfers: Transfers,
    reader: Reader,
}

/// The moment and the page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListMomentCollectorsQuery {
    /// The moment's collection.
    collection_address: Address,
    /// The moment's token.
    token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    chain_id: ChainId,
    #[param(ignore)]
    #[field(flatten)]
    page: Page,
}

/// A page of collectors.
#[derive(Serialize, ToSchema)]
struct ListMomentCollectorsResponse {
    #[schema(pattern = "^success$")]
    status: &'static str,
    collectors: Vec<MomentCollector>,
    pagination: Pagination,
}

/// An account that got tokens of the moment; listed each time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MomentCollector {
    id: EventId,
    /// The account.
    collector: Address,
    /// Empty without a name.
    username: String,
    r#type: TransferType,
    /// Number of tokens.
    amount: Amount,
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    transaction_hash: B256,
    /// Unix time in milliseconds.
    timestamp: u64,
}

impl Endpoint for ListMomentCollectors {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            transfers: Transfers::new(chain.clone()),
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListMomentCollectorsQuery { collection_address: collection, token_id, chain_id, page } =
            request.query().read_for(&self.reader)?;
        let list = (chain_id, TransferList::Moment(collection, token_id));
        let found = self.transfers.newest_of(&[list], page.offset(), page.rows()).await?;
        let names = self.reader.names(found.transfers.iter().map(|transfer| transfer.to)).await?;
        let collectors = found.transfers.into_iter().map(|transfer| MomentCollector {
            id: transfer.id,
            collector: transfer.to,
            username: names.get(&transfer.to).cloned().unwrap_or_default(),
            r#type: transfer.r#type,
            amount: transfer.quantity,
            transaction_hash: transfer.transaction_hash,
            timestamp: transfer.transferred_at * 1_000,
        });
        let pagination = Pagination::new(page, found.total);
        let response = ListMomentCollectorsResponse { status: "success", collectors: collectors.collect(), pagination };
        Response::public(&response)?.with_next_page(request, page, pagination.has_more())
    }
}
