use shared::api::webhook::{WebhookPath, WebhookView};

/// Read a webhook
///
/// Your own only, without its secret.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The webhook.", body = WebhookView)),
)]
fn read_webhook() {}

openapi::published!(read_webhook, 403, 404);
