//! Contract of `DELETE /webhooks/{id}`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::WebhookPath;

/// The webhook is gone.
#[derive(Serialize, ToSchema)]
pub struct DeleteWebhookResponse {
    /// The webhook is deleted.
    pub success: bool,
}

/// Delete a webhook
///
/// Stops its deliveries and drops those that are queued.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The webhook is deleted.", body = DeleteWebhookResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn delete_webhook() {}
