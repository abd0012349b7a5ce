use super::ListWebhooksResponse;

/// List webhooks
///
/// Without their secrets.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "Webhooks",
    security(("token" = [])),
    responses((status = 200, description = "The webhooks.", body = ListWebhooksResponse)),
)]
fn list_webhooks() {}

openapi::published!(list_webhooks, 403);
