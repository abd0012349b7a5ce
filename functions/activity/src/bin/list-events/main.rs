//! `GET /events`: what happened, in the order of its logs. A cursor makes it resumable: nothing twice, nothing missing.

use std::time::Duration;

use activity::list_events::{
    ListEventsQuery, ListEventsResponse,
    page::{Page, Read, page},
};
use futures::future::try_join_all;
use shared::{
    api::read::{EventView, Reader},
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, ArtistId, ChainId, Event, EventCursor, EventsAfter, LogId, LogName, LogPlace},
    store::{
        StoreError,
        across::EventLogs,
        artist::{ArtistTable, Artists},
        chain::ChainTable,
        engine::LogHead,
        secret::{MAX_WAITS, SecretTable, WaitPlace, Waits},
    },
};
use tokio::time::Instant;

/// Time between two looks at the logs while a request waits.
const PAUSE: Duration = Duration::from_millis(500);

/// Rows of a log that are read for a page of events that may be filtered out.
const MOST_ROWS: i32 = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListEvents>().await
}

struct ListEvents {
    callers: CallerAuthenticator,
    artists: Artists,
    reader: Reader,
    logs: EventLogs,
    waits: Waits,
}

/// Whose events are asked for, and who asks.
struct Accounts {
    artist: Option<Vec<Address>>,
    caller: Option<ArtistId>,
    own: Vec<Address>,
}

impl ListEvents {
    /// The wallets of the artist that is asked for, and those of the caller. Two reads for each.
    async fn accounts(&self, request: &Request, query: &ListEventsQuery) -> Result<Accounts, ApiError> {
        let has_credential = ["authorization", "x-api-key"].iter().any(|name| request.header(name).is_some());
        let (mut caller, mut own) = (None, Vec::new());
        if has_credential {
            let artist = self.callers.authenticate(request, clock::now()?).await?;
            caller = Some(artist);
            let profile = self.artists.profile(artist).await?;
            own.extend(profile.into_iter().flat_map(|profile| profile.wallets).map(|wallet| wallet.address));
        }
        let artist = match &query.artist {
            Some(artist) => Some(self.reader.accounts(artist).await?),
            None => None,
        };
        Ok(Accounts { artist, caller, own })
    }

    /// A place to wait in, if the request asks for it; 401 without a credential, 429 if the artist's places are taken.
    async fn place(&self, wait: Duration, caller: Option<ArtistId>) -> Result<Option<WaitPlace>, ApiError> {
        if wait.is_zero() {
            return Ok(None);
        }
        let caller = caller.ok_or_else(|| {
            ApiError::unauthorized_caller("Waiting takes a token or an API key: send one, or ask without wait")
        })?;
        // A little more, for what comes after the wait.
        let now = clock::now()?.as_secs();
        let end = now + wait.as_secs() + 5;
        let place = self.waits.take(caller, end, now).await?;
        let taken = || {
            let words = format!("{MAX_WAITS} of your requests wait already: end one, or ask without wait");
            ApiError::too_many(words, wait.as_secs())
        };
        place.map(Some).ok_or_else(taken)
    }

    async fn wait_for_page(
        &self,
        query: &ListEventsQuery,
        accounts: &Accounts,
        wait: Duration,
    ) -> Result<Page, ApiError> {
        let names = self.names(query.chain_id);
        let end = Instant::now() + wait;
        let mut heads = self.heads(&names).await?;
        let mut places = places(query.after.as_ref(), &heads)?;
        loop {
            let page = self.page(&places, &heads, query, accounts).await?;
            // One request reads so much, and not more, of what nobody asked for.
            let is_behind = page.has_moved && heads.iter().any(|(log, head)| has_more(&page.next, *log, *head));
            if !page.events.is_empty() || is_behind || Instant::now() + PAUSE > end {
                return Ok(page);
            }
            places = page.next;
            tokio::time::sleep(PAUSE).await;
            heads = self.heads(&names).await?;
        }
    }

    fn names(&self, chain: Option<ChainId>) -> Vec<LogName> {
        let service = chain.is_none().then_some(LogName::Service);
        self.reader.chains(chain).into_iter().map(LogName::Chain).chain(service).collect()
    }

    /// One read for each log.
    async fn heads(&self, names: &[LogName]) -> Result<Vec<(LogName, Option<LogHead>)>, StoreError> {
        try_join_all(names.iter().map(async |name| Ok((*name, self.logs.head(*name).await?)))).await
    }

    /// The page after these places. One Query for each log that has more.
    async fn page(
        &self,
        places: &EventCursor,
        heads: &[(LogName, Option<LogHead>)],
        query: &ListEventsQuery,
        accounts: &Accounts,
    ) -> Result<Page, StoreError> {
        let limit = query.limit.get();
        let is_filtered = query.types.is_some() || accounts.artist.is_some() || query.collection.is_some();
        let few = i32::try_from(limit.div_ceil(5)).unwrap_or(MOST_ROWS).max(4);
        let read = heads.iter().map(async |(log, head)| {
            // A log that had no events when the wait began has had no id.
            let place = places.place(*log).filter(|place| place.number > 0).unwrap_or_else(|| beginning(*head));
            let rows = if is_filtered || *log == LogName::Service { MOST_ROWS } else { few };
            let events = if has_more(places, *log, *head) {
                self.logs.after(*log, place.number, rows).await?
            } else {
                Vec::new()
            };
            Ok::<_, StoreError>(Read { log: *log, place, events })
        });
        let logs = try_join_all(read).await?;
        let is_meant = |event: &Event| is_meant(event, query, accounts);
        Ok(page(logs, usize::try_from(limit).unwrap_or(usize::MAX), is_meant))
    }
}

impl Endpoint for ListEvents {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?.eventually_consistent(), ArtistTable::from_env(&aws)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            callers: CallerAuthenticator::from_env(secrets.clone())?,
            waits: Waits::new(secrets),
            reader: Reader::from_env(chain.clone(), artists.clone())?,
            artists: Artists::new(artists.clone().eventually_consistent()),
            logs: EventLogs::new(chain, artists),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListEventsQuery = request.query().read_for(&self.reader)?;
        let accounts = self.accounts(request, &query).await?;
        let wait = query.wait.map_or(Duration::ZERO, |wait| wait.time());
        let place = self.place(wait, accounts.caller).await?;
        let page = self.wait_for_page(&query, &accounts, wait).await;
        if let Some(place) = place {
            self.waits.give_back(&place).await?;
        }
        let mut page = page?;
        self.logs.withhold(page.events.iter_mut().map(|(_, numbered)| &mut numbered.event.data)).await?;
        answer(page)
    }
}

fn answer(page: Page) -> Result<Response, ApiError> {
    let events = page.events.into_iter().map(|(log, event)| EventView::of(log, event)).collect::<Result<_, _>>()?;
    Response::json(&ListEventsResponse { status: "success", events, next: page.next })
}

fn has_more(places: &EventCursor, log: LogName, head: Option<LogHead>) -> bool {
    let number = places.place(log).map_or(0, |place| place.number);
    head.is_some_and(|head| number < head.last)
}

fn beginning(head: Option<LogHead>) -> LogPlace {
    LogPlace { log: head.map_or(LogId(0), |head| head.log), number: 0 }
}

/// Where a page begins; 410 for a place that a log made anew doesn't have.
fn places(after: Option<&EventsAfter>, heads: &[(LogName, Option<LogHead>)]) -> Result<EventCursor, ApiError> {
    let mut places = EventCursor::default();
    for (name, head) in heads {
        let beginning = beginning(*head);
        let last = head.map_or(0, |head| head.last);
        let place = match after {
            None => beginning,
            Some(EventsAfter::Latest) => LogPlace { number: last, ..beginning },
            Some(EventsAfter::Cursor(cursor)) => match cursor.place(*name) {
                Some(place) if place.number > last || (place.number > 0 && place.log != beginning.log) => {
                    return Err(ApiError::gone(
                        "The cursor belongs to a log that was made anew: begin without after, ids are the same",
                    ));
                }
                Some(place) => LogPlace { number: place.number, ..beginning },
                None => beginning,
            },
        };
        places.set(*name, place);
    }
    Ok(places)
}

/// Whether an event fits the filters, and is the caller's if it is nobody else's to see.
fn is_meant(event: &Event, query: &ListEventsQuery, accounts: &Accounts) -> bool {
    let kind = event.data.kind();
    let concerns = |wallets: &[Address]| event.accounts().iter().any(|account| wallets.contains(account));
    query.types.as_ref().is_none_or(|types| types.contain(kind))
        && query.collection.is_none_or(|collection| event.about().collection() == Some(collection))
        && accounts.artist.as_ref().is_none_or(|wallets| concerns(wallets))
        && (!kind.is_private() || concerns(&accounts.own))
}
