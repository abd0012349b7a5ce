use super::{MarkNotificationsRequest, MarkNotificationsResponse};

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
fn mark_notifications() {}

openapi::published!(mark_notifications);
