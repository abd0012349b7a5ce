use shared::api::request::PageQuery;

use super::{ListCollectorsQuery, ListCollectorsResponse};

/// List collectors
///
/// By number of collects or by spending.
#[utoipa::path(
    get,
    path = "/collectors",
    tag = "Activity",
    params(ListCollectorsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListCollectorsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_collectors() {}

openapi::published!(list_collectors, 422);
