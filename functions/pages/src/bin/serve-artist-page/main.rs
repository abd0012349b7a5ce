//! `GET /pages/{artist}`, where `artist` is `@` and a username, and `GET /pages/a/{address}`: an artist's page.

use pages::{Clock, artist_named, artist_page, not_found, page};
use shared::{
    api::read::{MomentList, Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Page,
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Scope},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeArtistPage>().await
}

struct ServeArtistPage {
    site: Site,
    chains: Chains,
    reader: Reader,
}

impl Endpoint for ServeArtistPage {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown = || not_found("Nobody has this name here.", &self.site);
        let Some(name) = artist_named(request.path()) else { return unknown() };
        let Some(artist) = self.reader.artist(&name).await? else { return unknown() };
        if artist.profile.as_ref().is_some_and(|profile| profile.is_withheld) {
            return not_found("The operator of this site doesn't show this artist.", &self.site);
        }
        let number: Page = request.query().read()?;
        let list = MomentList::of_accounts(&self.reader.chains(None), &artist.accounts(), Scope::Made);
        let found = self.reader.page_of(&list, number).await?;
        let list = (found.moments.as_slice(), found.total, number.next(found.total));
        let artist = (artist.account, artist.profile.as_ref());
        let frame = artist_page(&self.site, &self.chains, artist, list, Clock::now()?);
        page(frame, &self.site)
    }
}
