use shared::api::request::PageQuery;

use super::{ListNotificationsQuery, ListNotificationsResponse};

/// List notifications
///
/// Payments to artists, newest first.
#[utoipa::path(
    get,
    path = "/notifications",
    tag = "Activity",
    params(ListNotificationsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListNotificationsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_notifications() {}

openapi::published!(list_notifications);
