use super::{ListEventsResponse, query::ListEventsQuery};

/// List events
///
/// What happened, as CloudEvents 1.0: for whoever keeps a copy, or wants to know at once. The log of each chain is in the
/// order of the chain; ask again with `next`, and nothing comes twice or is missing. What the chain takes back comes as
/// `.reverted`, with the same id, the newest first. With a credential, outcomes of your own transactions come along.
///
/// A page can be empty though more follows: ask until nothing comes, or with `wait`.
#[utoipa::path(
    get,
    path = "/events",
    tag = "Activity",
    security(("token" = []), ("apiKey" = []), ()),
    params(ListEventsQuery),
    responses((status = 200, description = "The page.", body = ListEventsResponse)),
)]
fn list_events() {}

openapi::published!(list_events, 410);
