//! `GET /pages/feed.atom` and `.json`, the same under an artist's and a collection's page, and `GET /pages/oembed`.

use futures::try_join;
use pages::{Feed, FeedFormat, OembedQuery, artist_named, not_found, oembed};
use shared::{
    api::read::{MomentView, Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, serve},
    model::{Address, ChainId, PageLimit},
    store::{
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Scope, TimelineFilter, Timelines},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeFeed>().await
}

struct ServeFeed {
    site: Site,
    chains: Chains,
    artists: Artists,
    timelines: Timelines,
    reader: Reader,
}

#[derive(FromFields)]
struct CollectionPath {
    chain: ChainId,
    contract: Address,
}

impl Endpoint for ServeFeed {
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
        if request.path().ends_with("/oembed") {
            return self.embed(&request.query().read()?).await;
        }
        let unknown = || not_found("There is no such feed.", &self.site);
        let (page, file) = request.path().rsplit_once('/').unwrap_or_default();
        let Some(format) = FeedFormat::of_file(file) else { return unknown() };
        let feed = match request.route().rsplit_once('/').unwrap_or_default().0 {
            "GET /pages" => Some(self.of_everyone().await?),
            "GET /pages/c/{chain}/{contract}" => self.of_collection(request).await?,
            _ => self.of_artist(page).await?,
        };
        match feed {
            Some(feed) => feed.answer(format),
            None => unknown(),
        }
    }
}

impl ServeFeed {
    async fn embed(&self, query: &OembedQuery) -> Result<Response, ApiError> {
        let unknown = || ApiError::not_found("No moment has this address here");
        let place = self.site.moment_at(&query.url.0).filter(|place| self.chains.get(place.chain).is_ok());
        let moment = self.reader.moment(&place.ok_or_else(unknown)?).await?;
        oembed(&self.site, &moment.filter(|moment| moment.hidden.is_empty()).ok_or_else(unknown)?, query)
    }

    async fn of_everyone(&self) -> Result<Feed, ApiError> {
        let sets: Vec<_> = self.reader.chains(None).into_iter().map(|chain| (chain, Scope::Everyone)).collect();
        let filter = TimelineFilter { curated: true, ..TimelineFilter::default() };
        Ok(Feed::of_everyone(&self.site, &self.newest(&sets, filter).await?))
    }

    async fn of_artist(&self, page: &str) -> Result<Option<Feed>, ApiError> {
        let Some(name) = artist_named(page) else { return Ok(None) };
        let accounts = self.artists.accounts(&name).await?;
        let Some(account) = accounts.first().copied() else { return Ok(None) };
        let profile = self.artists.profile_of(account).await?;
        let account = profile.as_ref().map_or(account, |profile| profile.artist.embedded_wallet);
        let chains = self.reader.chains(None);
        let sets: Vec<_> =
            chains.iter().flat_map(|chain| accounts.iter().map(|account| (*chain, Scope::Made(*account)))).collect();
        let moments = self.newest(&sets, TimelineFilter::default()).await?;
        Ok(Some(Feed::of_artist(&self.site, account, profile.as_ref(), &moments)))
    }

    async fn of_collection(&self, request: &Request) -> Result<Option<Feed>, ApiError> {
        let Ok(path) = request.path_parameters().read_for::<CollectionPath>(&self.chains) else { return Ok(None) };
        let set = [(path.chain, Scope::Collection(path.contract))];
        let read = async { Ok::<_, ApiError>(self.reader.collection(path.chain, path.contract).await?) };
        let (collection, moments) = try_join!(read, self.newest(&set, TimelineFilter::default()))?;
        Ok(collection.map(|collection| Feed::of_collection(&self.site, &collection, &moments)))
    }

    /// As many as a page has.
    async fn newest(&self, sets: &[(ChainId, Scope)], filter: TimelineFilter) -> Result<Vec<MomentView>, ApiError> {
        let found = self.timelines.newest_of(sets, filter, 0, 0, PageLimit::DEFAULT.get()).await?;
        Ok(self.reader.moments(&found.moments).await?)
    }
}
