//! `GET /moment/collectors`: who got tokens of a moment, newest first.

use activity::list_moment_collectors::{ListMomentCollectorsQuery, ListMomentCollectorsResponse, MomentCollector};
use shared::{
    api::{
        read::{Pagination, Reader},
        request::of_another_list,
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, TransferList, Transfers},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListMomentCollectors>().await
}

struct ListMomentCollectors {
    transfers: Transfers,
    reader: Reader,
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
        let ListMomentCollectorsQuery { collection_address: collection, token_id, chain_id, start } =
            request.query().read_for(&self.reader)?;
        let list = (chain_id, TransferList::Moment(collection, token_id));
        let found = self.transfers.starting_at(&[list], &start).await?.ok_or_else(of_another_list)?;
        let next = found.rest.after(found.transfers.len());
        let names = self.reader.names(found.transfers.iter().map(|transfer| transfer.to)).await?;
        let collectors = found.transfers.into_iter().map(|transfer| MomentCollector {
            id: transfer.id,
            collector: transfer.to,
            username: names.get(&transfer.to).cloned().unwrap_or_default(),
            r#type: transfer.r#type,
            amount: transfer.quantity,
            transaction_hash: transfer.transaction_hash,
            timestamp: transfer.transferred_at.saturating_mul(1_000),
        });
        let pagination = Pagination::new(start.page, found.total);
        let response = ListMomentCollectorsResponse { status: "success", collectors: collectors.collect(), pagination };
        Response::page(&response, request, &start, next)
    }
}
