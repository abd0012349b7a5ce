//! `GET /pages/c/{chain}/{contract}`: a collection's page.

use futures::try_join;
use pages::{Clock, collection_page, not_found, page};
use shared::{
    api::read::{MomentList, Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, serve},
    model::{Address, ChainId, Page},
    store::{artist::ArtistTable, chain::ChainTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeCollectionPage>().await
}

struct ServeCollectionPage {
    site: Site,
    chains: Chains,
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
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown =
            || not_found("No such collection is known. It may be too new: look again in a minute.", &self.site);
        let Ok(path) = request.path_parameters().read_for::<CollectionPath>(&self.chains) else { return unknown() };
        let number: Page = request.query().read()?;
        let list = MomentList::of_collection([path.chain], path.contract);
        let (collection, found) =
            try_join!(self.reader.collection(path.chain, path.contract), self.reader.page_of(&list, number))?;
        let Some(collection) = collection else { return unknown() };
        if collection.is_withheld {
            return not_found("The operator of this site doesn't show this collection.", &self.site);
        }
        let list = (found.moments.as_slice(), found.total, number.next(found.total));
        page(collection_page(&self.site, &self.chains, &collection, list, Clock::now()?), &self.site)
    }
}
