use shared::api::webhook::WebhookPath;

use super::RotateWebhookResponse;

/// Replace a webhook's secret
///
/// The new one is shown this once. For a day messages have two signatures, by the new secret and by the one before, separated
/// by a space. Rotating twice ends the first secret at once.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The webhook and its new secret.", body = RotateWebhookResponse)),
)]
fn rotate_webhook() {}

openapi::published!(rotate_webhook, 403, 404);
