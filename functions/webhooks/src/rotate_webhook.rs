//! Contract of `POST /webhooks/{id}/rotate`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{WebhookPath, WebhookView};

/// The webhook with its new secret.
#[derive(Serialize, ToSchema)]
pub struct RotateWebhookResponse {
    pub webhook: WebhookView,
    /// What messages are signed with. It is shown this once.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]{43}=$")]
    pub secret: String,
}

/// Replace a webhook's secret
///
/// Shows the new secret this once. For a day messages have two signatures, by the new secret and by the previous one,
/// separated by a space. Rotating twice ends the first secret at once.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The webhook and its new secret.", body = RotateWebhookResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn rotate_webhook() {}
