//! `GET /pages/home`: the home page, and the files that all pages load.

use pages::{Clock, asset, home_page, not_found, page};
use shared::{
    api::read::{Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Page,
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Scope, TimelineFilter, Timelines},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeHomePage>().await
}

struct ServeHomePage {
    site: Site,
    chains: Chains,
    timelines: Timelines,
    reader: Reader,
}

/// Files change their names with their content.
const FOR_EVER: u32 = 365 * 24 * 60 * 60;

impl Endpoint for ServeHomePage {
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
        let name = request.path().rsplit('/').next().unwrap_or_default();
        if request.path().contains("/assets/") {
            return match asset(name) {
                Some(asset) => Ok(Response::file(asset.content_type, asset.content.as_bytes()).cacheable(FOR_EVER)),
                None => not_found("There is no such file.", &self.site),
            };
        }
        let number: Page = request.query().read()?;
        let sets: Vec<_> = self.reader.chains(None).into_iter().map(|chain| (chain, Scope::Everyone)).collect();
        let filter = TimelineFilter { curated: true, ..TimelineFilter::default() };
        let found = self.timelines.newest_of(&sets, filter, 0, number.offset(), number.limit.get()).await?;
        let moments = self.reader.moments(&found.moments).await?;
        let next = number.next(found.total);
        page(home_page(&self.site, &self.chains, &moments, next, Clock::now()?), &self.site)
    }
}
