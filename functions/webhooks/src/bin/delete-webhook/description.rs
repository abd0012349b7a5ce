use shared::api::webhook::WebhookPath;

use super::DeleteWebhookResponse;

/// Delete a webhook
///
/// Nothing more is sent to it. What waited is dropped.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "It is deleted.", body = DeleteWebhookResponse)),
)]
fn delete_webhook() {}

openapi::published!(delete_webhook, 403, 404);
