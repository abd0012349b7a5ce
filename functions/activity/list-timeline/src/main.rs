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

#[derive(Serialize, ToSchema)]
struct ListTimelineResponse {
    status: &'static str,
    moments: Vec<MomentView>,
    pagination: Pagination,
}

impl ListTimeline {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (Table::chain(&aws)?, Table::artists(&aws)?);
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
        let Some((scope, filter)) = self.set(query, artist).await? else { return Ok(None) };
        let (since, page) = (query.since(now), query.page);
        let found =
            self.timelines.newest(query.chain_id, scope, filter, since, page.offset(), page.limit.get()).await?;
        Ok(Some(found))
    }

    /// The sorted set behind the timeline. Filters that depend on its artist or collection alone have no set: one read
    /// decides them here.
    async fn set(
        &self,
        query: &ListTimelineQuery,
        artist: Option<Address>,
    ) -> Result<Option<(Scope, TimelineFilter)>, StoreError> {
        let filter = query.filter();
        if let Some(address) = query.collection {
            let Some(collection) = self.moments.collection(query.chain_id, address).await? else { return Ok(None) };
            let is_meant = artist.is_none_or(|artist| artist == collection.creator)
                && filter.protocol.is_none_or(|protocol| protocol == collection.protocol)
                && (!filter.curated || self.has_name(collection.creator).await?);
            let filter = TimelineFilter { content_type: filter.content_type, ..TimelineFilter::default() };
            return Ok(is_meant.then_some((Scope::Collection(address), filter)));
        }
        Ok(match (artist, query.r#type) {
            (None, _) => Some((Scope::Everyone, filter)),
            (Some(artist), None) => Some((Scope::Of(artist), filter)),
            (Some(artist), Some(TimelineType::Mutual)) => Some((Scope::Mutual(artist), filter)),
            (Some(artist), Some(TimelineType::Default)) => {
                let is_meant = !filter.curated || self.has_name(artist).await?;
                is_meant.then_some((Scope::Made(artist), TimelineFilter { curated: false, ..filter }))
            }
        })
    }

    async fn has_name(&self, account: Address) -> Result<bool, StoreError> {
        Ok(self.artists.usernames(&[account]).await?.values().any(|name| !name.is_empty()))
    }
}

impl Endpoint for ListTimeline {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListTimelineQuery = request.query().read_for(&self.reader)?;
        let found = self.page(&query, clock::now()?.as_secs()).await?;
        let found = found.unwrap_or(TimelinePage { moments: Vec::new(), total: 0 });
        let pagination = Pagination::new(query.page, found.total);
        let moments = self.moments.moments(&found.moments).await?;
        let moments = self.reader.moments(&moments).await?;
        Response::public(&ListTimelineResponse { status: "success", moments, pagination })?.with_next_page(
            request,
            query.page,
            pagination.has_more(),
        )
    }
}
