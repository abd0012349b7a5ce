use shared::api::webhook::WebhookPath;

use super::{ListDeliveriesQuery, ListDeliveriesResponse};

/// List a webhook's deliveries
///
/// Those of the last 7 days, with what waits, the newest first: whether the receiver took each, after how many tries, and how
/// long the last one took.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath, ListDeliveriesQuery),
    responses((status = 200, description = "The page.", body = ListDeliveriesResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_deliveries() {}

openapi::published!(list_deliveries, 403, 404);
