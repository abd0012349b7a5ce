//! Contract of `GET /events`, and what it shares with `GET /events/wait`.

pub mod page;

use serde::Serialize;
use shared::{
    api::read::EventView,
    http::FromFields,
    model::{Address, ArtistName, ChainId, EventCursor, EventKinds, EventsAfter, PageLimit, Wait},
};
use utoipa::{IntoParams, ToSchema};

/// Filters and place.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListEventsQuery {
    /// Where the page begins: the `next` of the page before, or `latest` for what happens from now on. From the beginning
    /// by default.
    #[param(inline)]
    pub after: Option<EventsAfter>,
    /// Types of events, separated by commas; all by default. `.reverted` events of these types are included.
    #[param(inline)]
    pub types: Option<EventKinds>,
    /// Artist whom the events concern, by any of their wallets or their username: as creator, collector, sender and so on.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// Collection that the events are about.
    pub collection: Option<Address>,
    /// Chain whose log is asked for; by default all of them, and the service's own.
    #[param(rename = "chainId")]
    pub chain_id: Option<ChainId>,
    /// Most events on a page; it may have fewer, and others may follow.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// Most seconds to wait for the first event, at `/events/wait`; `/events` answers at once, or leads there if this is
    /// more than 0.
    #[param(inline)]
    pub wait: Option<Wait>,
}

/// A page of events.
#[derive(Serialize, ToSchema)]
pub struct ListEventsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub events: Vec<EventView>,
    /// The `after` of the next page: it is there even if nothing has happened yet.
    pub next: EventCursor,
}

/// List events
///
/// What happened, as CloudEvents 1.0: to keep a copy, or to know at once. Events come in the chain's order. Ask again with
/// `next`, and you get each event once. When a chain takes events back, they come again as `.reverted`, with the same
/// ids, the newest first. With a credential you also see what became of your own transactions.
///
/// A page can be empty although more follows: ask until `next` stays as it is, or ask `/events/wait`.
#[utoipa::path(
    get,
    path = "/events",
    tag = "Activity",
    security(("token" = []), ("apiKey" = []), ()),
    params(ListEventsQuery),
    responses(
        (status = 200, description = "The page.", body = ListEventsResponse),
        (status = 307, description = "Requests with `wait` wait at `location`."),
    ),
    extensions(("x-errors" = json!([401, 410]))),
)]
pub fn list_events() {}
