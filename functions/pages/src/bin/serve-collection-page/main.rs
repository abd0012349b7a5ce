//! `GET /pages/c/{chain}/{contract}`: a collection's page.

use futures::try_join;
use pages::{Clock, collection_page, not_found, page};
use shared::{
    api::read::{Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, serve},
    model::{Address, ChainId, Page},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Scope, TimelineFilter, Timelines},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeCollectionPage>().await
}

struct ServeCollectionPage {
    site: Site,
    chains: Chains,
    timelines: Timelines,
    reader: Reader,
}

#[derive(FromFields)]
struct CollectionPath {
    chain: ChainId,
    contract: Address,
}

impl Endpoint for ServeCollectionPage {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            timelines: Timelines::new(chain.clone()),
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown =
            || not_found("No such collection is known. It may be too new: look again in a minute.", &self.site);
        let Ok(path) = request.path_parameters().read_for::<CollectionPath>(&self.chains) else { return unknown() };
        let number: Page = request.query().read()?;
        let set = [(path.chain, Scope::Collection(path.contract))];
        let newest = self.timelines.newest_of(&set, TimelineFilter::default(), 0, number.offset(), number.limit.get());
        let read = async { Ok::<_, ApiError>(self.reader.collection(path.chain, path.contract).await?) };
        let (collection, found) = try_join!(read, async { Ok(newest.await?) })?;
        let Some(collection) = collection else { return unknown() };
        let moments = self.reader.moments(&found.moments).await?;
        let list = (moments.as_slice(), found.total, number.next(found.total));
        page(collection_page(&self.site, &self.chains, &collection, list, Clock::now()?), &self.site)
    }
}
