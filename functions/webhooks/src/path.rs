//! Paths of webhooks and their deliveries.

use shared::{
    http::FromFields,
    model::{DeliveryId, WebhookId},
};
use utoipa::IntoParams;

/// A webhook.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct WebhookPath {
    /// Id of the webhook.
    pub id: WebhookId,
}

/// A delivery of a webhook.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct DeliveryPath {
    /// Id of the webhook.
    pub id: WebhookId,
    /// Id of the delivery.
    pub delivery: DeliveryId,
}
