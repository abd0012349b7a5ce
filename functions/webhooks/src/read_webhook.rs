//! Contract of `GET /webhooks/{id}`.

use crate::{WebhookPath, WebhookView};

/// Read a webhook
///
/// Returns one of your webhooks without its secret.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The webhook.", body = WebhookView)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn read_webhook() {}
