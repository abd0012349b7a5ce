//! `GET /collections`: collections, newest first.

use collections::list_collections::{ListCollectionsQuery, ListCollectionsResponse};
use shared::{
    api::read::{Pagination, Reader},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, CollectionLists},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListCollections>().await
}

struct ListCollections {
    lists: CollectionLists,
    reader: Reader,
}

impl Endpoint for ListCollections {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            lists: CollectionLists::new(chain.clone()),
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListCollectionsQuery { artist, chain_id, page } = request.query().read_for(&self.reader)?;
        let lists = self.reader.accounts_on(&self.reader.chains(chain_id), artist.as_ref()).await?;
        let found = self.lists.newest(&lists, page.offset(), page.rows()).await?;
        let pagination = Pagination::new(page, found.total);
        let collections = self.reader.collections(&found.collections).await?;
        Response::public(&ListCollectionsResponse { status: "success", collections, pagination })?.with_next_page(
            request,
            page,
            pagination.has_more(),
        )
    }
}
