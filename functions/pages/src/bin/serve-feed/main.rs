//! `GET /pages/feed.atom` and `.json`, the same under an artist's and a collection's page, and `GET /pages/oembed`.

use futures::try_join;
use pages::{Feed, FeedFormat, OembedQuery, artist_named, not_found, oembed};
use shared::{
    api::read::{MomentList, MomentView, Reader, Site},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, serve},
    model::{Address, ChainId, Page},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Scope},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeFeed>().await
}

struct ServeFeed {
    site: Site,
    chains: Chains,
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
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)?,
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
        oembed(&self.site, &moment.filter(MomentView::is_shown).ok_or_else(unknown)?, query)
    }

    async fn of_everyone(&self) -> Result<Feed, ApiError> {
        let list = MomentList::of_everyone(self.reader.listed_chains(None, false)).curated();
        Ok(Feed::of_everyone(&self.site, &self.reader.page_of(&list, Page::FIRST).await?.moments))
    }

    async fn of_artist(&self, page: &str) -> Result<Option<Feed>, ApiError> {
        let Some(name) = artist_named(page) else { return Ok(None) };
        let Some(artist) = self.reader.artist(&name).await? else { return Ok(None) };
        if artist.profile.as_ref().is_some_and(|profile| profile.is_withheld) {
            return Ok(None);
        }
        let list = MomentList::of_accounts(&self.reader.chains(None), &artist.accounts(), Scope::Made);
        let moments = self.reader.page_of(&list, Page::FIRST).await?.moments;
        Ok(Some(Feed::of_artist(&self.site, artist.account, artist.profile.as_ref(), &moments)))
    }

    async fn of_collection(&self, request: &Request) -> Result<Option<Feed>, ApiError> {
        let Ok(path) = request.path_parameters().read_for::<CollectionPath>(&self.chains) else { return Ok(None) };
        let list = MomentList::of_collection([path.chain], path.contract);
        let read = self.reader.collection(path.chain, path.contract);
        let (collection, found) = try_join!(read, self.reader.page_of(&list, Page::FIRST))?;
        let shown = collection.filter(|collection| !collection.is_withheld);
        Ok(shown.map(|collection| Feed::of_collection(&self.site, &collection, &found.moments)))
    }
}
