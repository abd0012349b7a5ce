//! Contract of `GET /events/wait`.

use crate::list_events::{ListEventsQuery, ListEventsResponse};

/// Wait for events
///
/// As `GET /events`, but an empty page comes only after `wait` seconds, 20 by default: ask again with `next`. At most two
/// requests of an artist, ten of a network and 30 of its provider wait at a time; others get 429 and may go on with
/// `GET /events`.
#[utoipa::path(
    get,
    path = "/events/wait",
    tag = "Activity",
    security(("token" = []), ("apiKey" = [])),
    params(ListEventsQuery),
    responses((status = 200, description = "The page.", body = ListEventsResponse)),
    extensions(("x-errors" = json!([401, 410, 429]))),
)]
pub fn wait_for_events() {}
