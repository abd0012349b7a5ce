use super::{ListEventsResponse, query::ListEventsQuery};

/// List events
///
/// What happened, as CloudEvents 1.0: to keep a copy, or to know at once. Events come in the chain's order. Ask again with
/// `next`, and you get each event once. When a chain takes events back, they come again as `.reverted`, with the same
/// ids, the newest first. With a credential you also see what became of your own transactions.
///
/// A page can be empty although more follows: ask until `next` stays as it is, or use `wait`.
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
