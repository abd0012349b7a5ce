//! Contract of `PUT /notifications`.

use serde::Serialize;
use shared::{http::FromFields, model::EventId};
use utoipa::ToSchema;

/// The notifications.
#[derive(FromFields, ToSchema)]
pub struct MarkNotificationsRequest {
    /// Their ids; all of yours by default.
    #[schema(min_items = 1, max_items = 100)]
    pub ids: Option<Vec<EventId>>,
}

/// How many notifications changed.
#[derive(Serialize, ToSchema)]
pub struct MarkNotificationsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    /// Number of newly viewed ones.
    pub updated: u64,
}

/// Mark notifications as viewed
///
/// Your own only. The body is optional.
#[utoipa::path(
    put,
    path = "/notifications",
    tag = "Activity",
    security(("token" = []), ("apiKey" = [])),
    request_body(content = Option<MarkNotificationsRequest>, example = json!({"ids": ["6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f"]})),
    responses((status = 200, description = "They are marked.", body = MarkNotificationsResponse)),
)]
pub fn mark_notifications() {}
