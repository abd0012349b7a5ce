//! Contract of `POST /webhooks/{id}/test`.

use crate::{DeliveryView, WebhookPath};

/// Test a webhook
///
/// Queues an event of type `webhook.test`, after those already queued, and has all of them attempted at once. At most
/// 60 tests, redeliveries and challenges per artist and hour.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/test",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The queued delivery.", body = DeliveryView)),
    extensions(("x-errors" = json!([403, 404, 409, 429]))),
)]
pub fn test_webhook() {}
