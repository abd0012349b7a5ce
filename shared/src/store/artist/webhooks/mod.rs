//! Webhooks: subscriptions, what waits to be sent to them, and what became of it. Rows: docs/data-model.md, Webhooks.

mod delivery;
mod fan_out;
mod queue;
mod subscription;

pub use self::{
    delivery::{Deliveries, Delivery, DeliveryAttempt},
    fan_out::{FanOutProgress, LogPosition},
    queue::{DueWebhook, QueuePlace, QueueScan, WebhookQueue},
    subscription::{Challenge, MAX_WEBHOOKS, SecretName, Webhook, Webhooks},
};
