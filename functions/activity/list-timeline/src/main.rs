//! `GET /timeline`: moments, newest first.

#[cfg(test)]
mod description;
mod query;

use serde::Serialize;
use shared::{
    api::read::{MomentView, Pagination, Reader},
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, FoldedName},
    store::{Artists, Moments, Scope, StoreError, Table, TimelineFilter, TimelinePage, Timelines},
    telemetry,
};
use utoipa::ToSchema;

use crate::query::{ArtistName, ListTimelineQuery, TimelineType};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListTimeline::from_env().await?).await
}

struct ListTimeline {
    timelines: Timelines,
    moments: Moments,
    artists: Artists,
    reader: Reader,
}

/// A page of moments.
#[derive(Serialize, ToSchema)]
struct ListTimelineResponse {
    #[schema(pattern = "^success$")]
    status: &'static str,
    moments: Vec<MomentView>,
    pagination: Pagination,
}

impl ListTimeline {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = Table::chain(&aws)?.eventually_consistent();
        let artists = Table::artists(&aws)?.eventually_consistent();
        Ok(Self {
            timelines: Timelines::new(chain.clone()),
            moments: Moments::new(chain.clone()),
            artists: Artists::new(artists.clone()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    /// The page; `None` for a timeline that must be empty.
    async fn page(&self, query: &ListTimelineQuery, now: u64) -> Result<Option<TimelinePage>, StoreError> {
        let artist = match &query.artist {
            None => None,
            Some(ArtistName::Account(account)) => Some(*account),
            Some(ArtistName::Username(name)) => {
                match self.artists.find_by_username(&FoldedName::of(name.as_str())).await? {
                    None => return Ok(None),
                    known => known,
                }
            }
        };
        let (scope, filter) = set(query, artist);
        let (since, page) = (query.since(now), query.page);
        let newest = self.timelines.newest(query.chain_id, scope, filter, since, page.offset(), page.limit.get());
        let (found, is_meant) = tokio::try_join!(newest, self.is_meant(query, artist))?;
        Ok(Some(found).filter(|_| is_meant))
    }

    /// Whether the timeline of a collection, or of what an artist made, matches the filters that have no set: they depend
    /// on the collection or the artist alone.
    async fn is_meant(&self, query: &ListTimelineQuery, artist: Option<Address>) -> Result<bool, StoreError> {
        let filter = query.filter();
        if let Some(address) = query.collection {
            let Some(collection) = self.moments.collection(query.chain_id, address).await? else { return Ok(false) };
            return Ok(artist.is_none_or(|artist| artist == collection.creator)
                && filter.protocol.is_none_or(|protocol| protocol == collection.protocol)
                && (!filter.curated || self.has_name(collection.creator).await?));
        }
        match (artist, query.r#type) {
            (Some(artist), Some(TimelineType::Default)) if filter.curated => self.has_name(artist).await,
            _ => Ok(true),
        }
    }

    async fn has_name(&self, account: Address) -> Result<bool, StoreError> {
        Ok(self.artists.usernames(&[account]).await?.values().any(|name| !name.is_empty()))
    }
}

/// The sorted set behind a timeline.
fn set(query: &ListTimelineQuery, artist: Option<Address>) -> (Scope, TimelineFilter) {
    let filter = query.filter();
    if let Some(collection) = query.collection {
        let filter = TimelineFilter { protocol: None, curated: false, ..filter };
        return (Scope::Collection(collection), filter);
    }
    match (artist, query.r#type) {
        (None, _) => (Scope::Everyone, filter),
        (Some(artist), None) => (Scope::Of(artist), filter),
        (Some(artist), Some(TimelineType::Mutual)) => (Scope::Mutual(artist), filter),
        (Some(artist), Some(TimelineType::Default)) => {
            (Scope::Made(artist), TimelineFilter { curated: false, ..filter })
        }
    }
}

impl Endpoint for ListTimeline {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListTimelineQuery = request.query().read_for(&self.reader)?;
        let found = self.page(&query, clock::now()?.as_secs()).await?;
        let found = found.unwrap_or(TimelinePage { moments: Vec::new(), total: 0 });
        let pagination = Pagination::new(query.page, found.total);
        let moments = self.reader.moments(query.chain_id, &found.moments).await?;
        Response::public(&ListTimelineResponse { status: "success", moments, pagination })?.with_next_page(
            request,
            query.page,
            pagination.has_more(),
        )
    }
}
