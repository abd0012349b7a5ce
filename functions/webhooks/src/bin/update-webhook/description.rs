use shared::api::webhook::{WebhookPath, WebhookView};

use super::UpdateWebhookRequest;

/// Change a webhook
///
/// A missing field stays unchanged; at least one is required. While a webhook is off, what happens isn't kept for it; once it
/// is on again, what waited from before, for up to three days, is sent first.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    request_body(content = UpdateWebhookRequest, example = json!({"active": true})),
    responses((status = 200, description = "The webhook.", body = WebhookView)),
)]
fn update_webhook() {}

openapi::published!(update_webhook, 403, 404);
