use shared::api::request::PageQuery;

use super::{ListCollectionsQuery, ListCollectionsResponse};

/// List collections
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/collections",
    tag = "Collections",
    params(ListCollectionsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListCollectionsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_collections() {}

openapi::published!(list_collections);
