//! Contract of `POST /webhooks/{id}/deliveries/{delivery}/redeliver`.

use crate::{DeliveryPath, DeliveryView};

/// Deliver an event once more
///
/// Queues a new delivery with the same `webhook-id`, after those already queued. At most 60 tests,
/// redeliveries and challenges per artist and hour.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/deliveries/{delivery}/redeliver",
    tag = "Webhooks",
    security(("token" = [])),
    params(DeliveryPath),
    responses((status = 200, description = "The queued delivery.", body = DeliveryView)),
    extensions(("x-errors" = json!([403, 404, 409, 429]))),
)]
pub fn redeliver_webhook() {}
