//! `GET /timeline`: moments, newest first.

use activity::list_timeline::{ListTimelineQuery, ListTimelineResponse, TimelineType};
use futures::future::try_join_all;
use shared::{
    api::{
        read::{MomentList, Pagination, Reader},
        request::of_another_list,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, ChainId},
    store::{
        StoreError,
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Moments, Scope, TimelineFilter, TimelinePage, TimelineStart},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListTimeline>().await
}

struct ListTimeline {
    moments: Moments,
    artists: Artists,
    reader: Reader,
}

impl ListTimeline {
    async fn page(&self, query: &ListTimelineQuery, now: u64) -> Result<TimelinePage, ApiError> {
        let start = TimelineStart::of(&query.start).ok_or_else(of_another_list)?;
        let accounts = match &query.artist {
            None => None,
            Some(artist) => Some(self.artists.accounts(artist).await?),
        };
        let list = self.list(query, accounts.as_deref()).await?.matching(set_filter(query)).since(query.since(now));
        let mut found = self.reader.listed(&list, start, query.start.page.limit.get()).await?;
        if let (Some(TimelineType::Mutual), Some(accounts)) = (query.r#type, accounts) {
            found.moments.retain(|moment| !accounts.contains(&moment.creator));
            found.may_overlap |= accounts.len() > 1;
        }
        Ok(found)
    }

    /// The list behind a timeline, without sets whose collection or artist doesn't match the filters that have no
    /// set: these depend on the collection or the artist alone.
    async fn list(&self, query: &ListTimelineQuery, accounts: Option<&[Address]>) -> Result<MomentList, StoreError> {
        if let Some(collection) = query.collection {
            let chains = self.reader.chains(query.chain_id);
            let are_meant = chains.iter().map(|chain| self.is_meant(*chain, collection, query, accounts));
            let are_meant = try_join_all(are_meant).await?;
            let meant = chains.into_iter().zip(are_meant).filter(|(_, is_meant)| *is_meant);
            return Ok(MomentList::of_collection(meant.map(|(chain, _)| chain), collection));
        }
        let Some(accounts) = accounts else {
            return Ok(MomentList::of_everyone(self.reader.listed_chains(query.chain_id, false)));
        };
        let scope = match query.r#type {
            None => Scope::Of,
            Some(TimelineType::Mutual) => Scope::Mutual,
            Some(TimelineType::Default) if query.filter().curated && !self.have_name(accounts).await? => {
                return Ok(MomentList::default());
            }
            Some(TimelineType::Default) => Scope::Made,
        };
        Ok(MomentList::of_accounts(&self.reader.chains(query.chain_id), accounts, scope))
    }

    async fn is_meant(
        &self,
        chain: ChainId,
        collection: Address,
        query: &ListTimelineQuery,
        accounts: Option<&[Address]>,
    ) -> Result<bool, StoreError> {
        let filter = query.filter();
        let Some(collection) = self.moments.collection(chain, collection).await? else { return Ok(false) };
        Ok(accounts.is_none_or(|accounts| accounts.contains(&collection.creator))
            && filter.protocol.is_none_or(|protocol| protocol == collection.protocol)
            && (!filter.curated || self.have_name(&[collection.creator]).await?))
    }

    async fn have_name(&self, accounts: &[Address]) -> Result<bool, StoreError> {
        Ok(self.artists.usernames(accounts).await?.values().any(|name| !name.is_empty()))
    }
}

/// The filter of the sets.
fn set_filter(query: &ListTimelineQuery) -> TimelineFilter {
    let filter = query.filter();
    match (query.collection, query.r#type) {
        (Some(_), _) => TimelineFilter { protocol: None, curated: false, ..filter },
        (None, Some(TimelineType::Default)) => TimelineFilter { curated: false, ..filter },
        _ => filter,
    }
}

impl Endpoint for ListTimeline {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        let artists = ArtistTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            moments: Moments::new(chain.clone()),
            artists: Artists::new(artists.clone()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListTimelineQuery = request.query().read_for(&self.reader)?;
        let found = self.page(&query, clock::now()?.as_secs()).await?;
        let pagination = Pagination::new(query.start.page, found.total);
        let pagination = if found.may_overlap { pagination.uncounted() } else { pagination };
        let (moments, shown) = self.reader.moments_that_fit(&found.moments).await?;
        let response = ListTimelineResponse { status: "success", moments, pagination };
        Response::page(&response, request, &query.start, found.after(shown))
    }
}
