//! Pages of the logs of events, for the endpoint that answers at once and the one that waits.

use futures::future::try_join_all;
use shared::{
    api::read::{EventView, Reader},
    auth::caller::CallerAuthenticator,
    clock,
    config::ConfigError,
    http::{ApiError, Request, Response},
    model::{Address, ArtistId, Event, EventCursor, EventsAfter, LogId, LogName, LogPlace},
    store::{
        StoreError,
        across::EventLogs,
        artist::{ArtistTable, Artists},
        chain::ChainTable,
        engine::LogHead,
        secret::SecretTable,
    },
};

use crate::list_events::{
    ListEventsQuery, ListEventsResponse,
    page::{Page, Read, page},
};

/// Rows of a log that are read for a page of events that may be filtered out.
const MOST_ROWS: i32 = 100;

/// A log that a query asks for, with its end.
pub type Head = (LogName, Option<LogHead>);

/// Reads pages of events.
pub struct EventReader {
    callers: CallerAuthenticator,
    artists: Artists,
    reader: Reader,
    logs: EventLogs,
}

/// Whose events are asked for, and who asks.
pub struct Accounts {
    artist: Option<Vec<Address>>,
    own: Vec<Address>,
    /// The artist who asks.
    pub caller: Option<ArtistId>,
}

impl EventReader {
    /// Reads what its parts do.
    pub fn new(chain: ChainTable, artists: ArtistTable, secrets: SecretTable) -> Result<Self, ConfigError> {
        let chain = chain.eventually_consistent();
        Ok(Self {
            callers: CallerAuthenticator::from_env(secrets)?,
            reader: Reader::from_env(chain.clone(), artists.clone())?,
            artists: Artists::new(artists.clone().eventually_consistent()),
            logs: EventLogs::new(chain, artists),
        })
    }

    /// The query; 400 with every wrong field.
    pub fn query(&self, request: &Request) -> Result<ListEventsQuery, ApiError> {
        request.query().read_for(&self.reader)
    }

    /// The wallets of the artist that is asked for, and those of the caller. Two reads for each.
    pub async fn accounts(&self, request: &Request, query: &ListEventsQuery) -> Result<Accounts, ApiError> {
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
        Ok(Accounts { artist, own, caller })
    }

    /// The logs of a query. One read for each.
    pub async fn heads(&self, query: &ListEventsQuery) -> Result<Vec<Head>, StoreError> {
        let service = query.chain_id.is_none().then_some(LogName::Service);
        let names = self.reader.chains(query.chain_id).into_iter().map(LogName::Chain).chain(service);
        try_join_all(names.map(async |name| Ok((name, self.logs.head(name).await?)))).await
    }

    /// The page after these places. One Query for each log that has more.
    pub async fn page(
        &self,
        places: &EventCursor,
        heads: &[Head],
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

    /// The answer: without what the operator hides. One batch of reads.
    pub async fn answer(&self, mut page: Page) -> Result<Response, ApiError> {
        self.logs.withhold(page.events.iter_mut().map(|(_, numbered)| &mut numbered.event.data)).await?;
        let events = page.events.into_iter().map(|(log, event)| EventView::of(log, event)).collect::<Result<_, _>>()?;
        Response::json(&ListEventsResponse { status: "success", events, next: page.next })
    }
}

/// Whether a log goes on after its place.
pub fn has_more(places: &EventCursor, log: LogName, head: Option<LogHead>) -> bool {
    let number = places.place(log).map_or(0, |place| place.number);
    head.is_some_and(|head| number < head.last)
}

fn beginning(head: Option<LogHead>) -> LogPlace {
    LogPlace { log: head.map_or(LogId(0), |head| head.log), number: 0 }
}

/// Where a query begins in its logs; 410 for a place that a log made anew doesn't have.
pub fn places(after: Option<&EventsAfter>, heads: &[Head]) -> Result<EventCursor, ApiError> {
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
