//! `GET /collections`: collections, newest first.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ChainId, Page},
    reading::{Pagination, Reader, ShownCollection},
    store::{CollectionLists, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListCollections::from_env().await?).await
}

struct ListCollections {
    lists: CollectionLists,
    reader: Reader,
}

/// Which collections are asked for.
struct ListCollectionsQuery {
    /// `artist`: the account that made them; anyone's unless given.
    artist: Option<Address>,
    /// `chain_id`: 8453 unless given.
    chain: ChainId,
    /// `limit` and `page`.
    page: Page,
}

#[derive(Serialize, ToSchema)]
struct ListCollectionsResponse {
    status: &'static str,
    collections: Vec<ShownCollection>,
    pagination: Pagination,
}

impl ListCollections {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = Table::chain(&aws)?;
        Ok(Self { lists: CollectionLists::new(chain.clone()), reader: Reader::from_env(chain, Table::artists(&aws)?)? })
    }
}

impl Endpoint for ListCollections {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListCollectionsQuery { artist, chain, page } = ListCollectionsQuery::parse(request, &self.reader)?;
        let found = self.lists.newest(chain, artist, page.offset(), page.rows()).await?;
        let pagination = Pagination::new(page, found.total);
        let collections = self.reader.collections(found.collections).await?;
        Response::public(&ListCollectionsResponse { status: "success", collections, pagination })?.with_next_page(
            request,
            page,
            pagination.has_more(),
        )
    }
}

impl ListCollectionsQuery {
    fn parse(request: &Request, reader: &Reader) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let artist = fields.optional("artist");
        let chain = reader.chain(&mut fields, "chain_id");
        let page = fields.page();
        fields.finish(|| Some(Self { artist, chain: chain?, page: page? }))
    }
}
