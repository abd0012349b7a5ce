//! Request, answer and description of `POST /webhooks/{id}/test`.

use crate::{DeliveryView, WebhookPath};

/// Test a webhook
///
/// Sends it an event of type `webhook.test`, behind what waits already, and has what waits tried at once. At most 60 tests
/// and redeliveries of an artist in an hour.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/test",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    responses((status = 200, description = "The delivery, which waits.", body = DeliveryView)),
    extensions(("x-errors" = json!([403, 404, 409, 429]))),
)]
pub fn test_webhook() {}
