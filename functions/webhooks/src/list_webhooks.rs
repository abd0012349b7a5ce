//! Contract of `GET /webhooks`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::WebhookView;

#[derive(Serialize, ToSchema)]
pub struct ListWebhooksResponse {
    /// The oldest first.
    pub webhooks: Vec<WebhookView>,
}

/// List webhooks
///
/// Lists your webhooks without their secrets.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "Webhooks",
    security(("token" = [])),
    responses((status = 200, description = "The webhooks.", body = ListWebhooksResponse)),
    extensions(("x-errors" = json!([403]))),
)]
pub fn list_webhooks() {}
