//! `GET /pages/home`: the home page, the files that all pages load, and those that programs look for at a host's root.

use std::collections::BTreeSet;

use pages::{Clock, MAPPED_MOMENTS, asset, home_page, icon, not_found, page, robots, security, sitemap};
use shared::{
    api::read::{MomentList, Reader, Site},
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Page,
    store::{
        artist::ArtistTable,
        chain::{ChainTable, TimelineStart},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeHomePage>().await
}

struct ServeHomePage {
    site: Site,
    chains: Chains,
    reader: Reader,
    /// Whom to tell of a weakness, as a URI; nobody if empty.
    contact: Option<String>,
}

/// Files change their names with their content.
const FOR_EVER: u32 = 365 * 24 * 60 * 60;

impl Endpoint for ServeHomePage {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)?,
            contact: config::optional(config::variables::SECURITY_CONTACT),
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
        match name {
            "favicon.ico" => {
                return Response::file("text/plain", b"").with("location", &icon(&self.site))?.with_status(302);
            }
            "robots.txt" => return Ok(robots(&self.site)),
            "sitemap.xml" => return self.map().await,
            "security.txt" => return self.security(),
            _ => {}
        }
        let number: Page = request.query().read()?;
        let found = self.reader.page_of(&self.list(), number).await?;
        let next = number.next(found.total);
        page(home_page(&self.site, &self.chains, &found.moments, next, Clock::now()?), &self.site)
    }
}

impl ServeHomePage {
    /// Moments of artists who have a name here.
    fn list(&self) -> MomentList {
        MomentList::of_everyone(self.reader.listed_chains(None, false)).curated()
    }

    async fn map(&self) -> Result<Response, ApiError> {
        let found = self.reader.listed(&self.list(), TimelineStart::Offset(0), MAPPED_MOMENTS).await?.moments;
        let names = self.reader.names(found.iter().map(|moment| moment.creator)).await?;
        let artists = found.iter().map(|moment| moment.creator);
        let artists: BTreeSet<_> =
            artists.map(|account| (account, names.get(&account).cloned().unwrap_or_default())).collect();
        let moments: Vec<_> = found.iter().map(|moment| moment.place).collect();
        Ok(sitemap(&self.site, &moments, &artists))
    }

    fn security(&self) -> Result<Response, ApiError> {
        match &self.contact {
            Some(contact) => security(&self.site, contact, clock::now()?.as_secs()),
            None => not_found("This service names nobody to tell of a weakness.", &self.site),
        }
    }
}
