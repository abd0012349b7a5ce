//! `GET /collections`: collections, newest first.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::read::{CollectionView, Pagination, Reader},
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ArtistName, ChainId, Page},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, CollectionLists},
    },
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListCollections>().await
}

struct ListCollections {
    lists: CollectionLists,
    reader: Reader,
}

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListCollectionsQuery {
    /// Their creator, by any of the artist's wallets or the username: collections of all of their wallets.
    #[param(inline)]
    artist: Option<ArtistName>,
    /// The chain; all by default.
    chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    page: Page,
}

/// A page of collections.
#[derive(Serialize, ToSchema)]
struct ListCollectionsResponse {
    #[schema(pattern = "^success$")]
    status: &'static str,
    collections: Vec<CollectionView>,
    pagination: Pagination,
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
