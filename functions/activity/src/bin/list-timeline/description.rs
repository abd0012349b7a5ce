use shared::api::request::PageQuery;

use super::{ListTimelineQuery, ListTimelineResponse};

/// List moments
///
/// All moments, those of an artist or of a collection, newest first.
#[utoipa::path(
    get,
    path = "/timeline",
    tag = "Activity",
    params(ListTimelineQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListTimelineResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_timeline() {}

openapi::published!(list_timeline);
