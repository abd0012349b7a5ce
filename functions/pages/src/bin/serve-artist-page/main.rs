//! `GET /pages/{artist}`, where `artist` is `@` and a username, and `GET /pages/a/{address}`: an artist's page.

use pages::{Clock, artist_named, artist_page, not_found, page};
use shared::{
    api::read::{Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Page,
    store::{
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Scope, TimelineFilter, Timelines},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeArtistPage>().await
}

struct ServeArtistPage {
    site: Site,
    chains: Chains,
    artists: Artists,
    timelines: Timelines,
    reader: Reader,
}

impl Endpoint for ServeArtistPage {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        let artists = ArtistTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            artists: Artists::new(artists.clone()),
            timelines: Timelines::new(chain.clone()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown = || not_found("Nobody has this name here.", &self.site);
        let Some(name) = artist_named(request.path()) else { return unknown() };
        let accounts = self.artists.accounts(&name).await?;
        let Some(account) = accounts.first().copied() else { return unknown() };
        let number: Page = request.query().read()?;
        let profile = self.artists.profile_of(account).await?;
        let account = profile.as_ref().map_or(account, |profile| profile.artist.embedded_wallet);
        let chains = self.reader.chains(None);
        let sets: Vec<_> =
            chains.iter().flat_map(|chain| accounts.iter().map(|account| (*chain, Scope::Made(*account)))).collect();
        let found =
            self.timelines.newest_of(&sets, TimelineFilter::default(), 0, number.offset(), number.limit.get()).await?;
        let moments = self.reader.moments(&found.moments).await?;
        let list = (moments.as_slice(), found.total, number.next(found.total));
        let frame = artist_page(&self.site, &self.chains, (account, profile.as_ref()), list, Clock::now()?);
        page(frame, &self.site)
    }
}
