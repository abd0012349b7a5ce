use shared::model::EventId;
use utoipa::ToSchema;

use super::MarkNotificationsResponse;

/// Which notifications are meant.
#[derive(ToSchema)]
struct MarkNotificationsBody {
    /// Their ids; all of yours unless given.
    #[schema(min_items = 1, max_items = 100)]
    #[expect(dead_code, reason = "describes what is parsed elsewhere")]
    ids: Option<Vec<EventId>>,
}

/// Mark notifications as viewed
///
/// Your own alone. The body may be left out.
#[utoipa::path(
    put,
    path = "/notifications",
    tag = "Activity",
    security(("token" = []), ("apiKey" = [])),
    request_body(content = Option<MarkNotificationsBody>, example = json!({"ids": ["6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f"]})),
    responses((status = 200, description = "They are viewed.", body = MarkNotificationsResponse)),
)]
fn mark_notifications() {}

contract::published!(mark_notifications);
