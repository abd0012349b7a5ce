//! `GET /collections`: collections, newest first.

use collections::list_collections::{ListCollectionsQuery, ListCollectionsResponse};
use shared::{
    api::{
        read::{Pagination, Reader},
        request::of_another_list,
    },
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
        let ListCollectionsQuery { artist, chain_id, start } = request.query().read_for(&self.reader)?;
        let chains = self.reader.listed_chains(chain_id, artist.is_some());
        let lists = self.reader.accounts_on(&chains, artist.as_ref()).await?;
        let found = self.lists.starting_at(&lists, &start).await?.ok_or_else(of_another_list)?;
        let pagination = Pagination::new(start.page, found.total);
        let (collections, shown) = self.reader.collections_that_fit(&found.collections).await?;
        let response = ListCollectionsResponse { status: "success", collections, pagination };
        Response::page(&response, request, &start, found.rest.after(shown))
    }
}
