//! Request, answer and description of `POST /webhooks/{id}/deliveries/{delivery}/redeliver`.

use crate::{DeliveryPath, DeliveryView};

/// Deliver an event once more
///
/// With the same `webhook-id`, as a delivery of its own behind what waits already. At most 60 tests and redeliveries of an
/// artist in an hour.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/deliveries/{delivery}/redeliver",
    tag = "Webhooks",
    security(("token" = [])),
    params(DeliveryPath),
    responses((status = 200, description = "The new delivery, which waits.", body = DeliveryView)),
    extensions(("x-errors" = json!([403, 404, 409, 429]))),
)]
pub fn redeliver_webhook() {}
