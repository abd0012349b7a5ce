//! What is asked for.

use shared::{
    http::FromFields,
    model::{Address, ArtistName, ChainId, EventKinds, EventsAfter, PageLimit, Wait},
};
use utoipa::IntoParams;

/// Filters and place.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListEventsQuery {
    /// Where the page begins: the `next` of the page before, or `latest` for what happens from now on. From the beginning
    /// by default.
    #[param(inline)]
    pub after: Option<EventsAfter>,
    /// Types of events, separated by commas; all by default. What takes them back comes along.
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
    /// Most seconds to wait for the first event; 0 by default.
    #[param(inline)]
    pub wait: Option<Wait>,
}
