//! Webhooks and deliveries as they are shown.

use serde::Serialize;
use shared::{
    clock,
    http::ApiError,
    model::{Address, DeliveryId, DeliveryStatus, EventKind, WebhookDescription, WebhookId, WebhookStatus, WebhookUrl},
    store::artist::{Delivery, DeliveryAttempt, Webhook},
};
use utoipa::ToSchema;

/// A webhook, without its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct WebhookView {
    id: WebhookId,
    /// Where events are sent to.
    url: WebhookUrl,
    /// Your note.
    description: WebhookDescription,
    /// Types of events that are sent; all if there is none.
    types: Vec<EventKind>,
    /// The only collection whose events are sent; null for all.
    #[schema(required = true)]
    collection: Option<Address>,
    /// Whether it gets events: `pending` until its receiver answers the challenge, `gone` if it answered 410, `failing` if
    /// it failed for five days, or didn't answer the challenge for one.
    status: WebhookStatus,
    /// ISO 8601.
    created_at: String,
    /// When the secret was replaced last: ISO 8601; null if never.
    #[schema(required = true)]
    rotated_at: Option<String>,
    /// The last attempt to have the receiver answer its challenge; null before the first, and once it did.
    #[schema(required = true)]
    last_challenge: Option<AttemptView>,
}

/// A delivery of an event.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    id: DeliveryId,
    /// Id of the event, as `webhook-id` has it.
    event_id: String,
    /// Type of the event.
    r#type: String,
    status: DeliveryStatus,
    /// Attempts so far.
    attempts: u32,
    /// When it was queued: ISO 8601.
    created_at: String,
    /// The last attempt; null before the first.
    #[schema(required = true)]
    last_attempt: Option<AttemptView>,
}

/// An attempt to deliver.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
struct AttemptView {
    /// ISO 8601.
    at: String,
    /// Status of the receiver's answer; null without one.
    #[schema(required = true)]
    status: Option<u16>,
    /// How long it took, in milliseconds.
    latency_ms: u64,
    /// What was wrong; null if the status says it.
    #[schema(required = true)]
    error: Option<String>,
}

impl WebhookView {
    /// Shows a webhook. Fails for a time beyond the year 9999.
    pub fn of(webhook: Webhook) -> Result<Self, ApiError> {
        let status = webhook.shown_status();
        let Webhook { id, url, description, types, collection, created_at, rotated_at, challenge, .. } = webhook;
        let created_at = clock::iso_8601(created_at)?;
        let rotated_at = rotated_at.map(clock::iso_8601).transpose()?;
        let last_challenge = challenge.and_then(|challenge| challenge.last).map(AttemptView::of).transpose()?;
        Ok(Self { id, url, description, types, collection, status, created_at, rotated_at, last_challenge })
    }
}

impl AttemptView {
    fn of(attempt: DeliveryAttempt) -> Result<Self, ApiError> {
        let DeliveryAttempt { at, status, latency_ms, error } = attempt;
        Ok(Self { at: clock::iso_8601(at)?, status, latency_ms, error })
    }
}

impl DeliveryView {
    /// Shows a delivery. Fails for a time beyond the year 9999.
    pub fn of(delivery: Delivery) -> Result<Self, ApiError> {
        Ok(Self {
            id: delivery.id,
            event_id: delivery.event,
            r#type: delivery.r#type,
            status: delivery.status,
            attempts: delivery.attempts,
            created_at: clock::iso_8601(delivery.created_at)?,
            last_attempt: delivery.last.map(AttemptView::of).transpose()?,
        })
    }
}
