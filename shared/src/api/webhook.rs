//! Webhooks: how they are shown, and what their endpoints have in common.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::session::SessionAuthenticator,
    clock, config,
    http::{ApiError, FromFields, LimitUnit, RateLimit, Request, StartError},
    model::{
        Address, ArtistId, DeliveryId, DeliveryStatus, EventKind, WebhookDescription, WebhookId, WebhookStatus,
        WebhookUrl,
    },
    public_web::PrivateReceivers,
    store::{
        artist::{ArtistTable, Deliveries, Delivery, DeliveryAttempt, Webhook, WebhookQueue, Webhooks},
        secret::{RequestCounts, SecretTable},
    },
};

/// Most deliveries that an artist may ask for in an hour of the clock.
const ASKED_HOURLY: u32 = 60;

const HOUR: u64 = 60 * 60;

/// What endpoints for webhooks take.
pub struct WebhookService {
    /// Who asks.
    pub sessions: SessionAuthenticator,
    /// The webhooks.
    pub webhooks: Webhooks,
    /// Their deliveries.
    pub deliveries: Deliveries,
    /// What waits.
    pub queue: WebhookQueue,
    asked: RequestCounts,
}

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
    /// Whether it gets events: `gone` if its receiver answered 410, `failing` if it failed for five days.
    status: WebhookStatus,
    /// ISO 8601.
    created_at: String,
    /// When the secret was replaced last: ISO 8601; null if never.
    #[schema(required = true)]
    rotated_at: Option<String>,
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
    /// Tries so far.
    attempts: u32,
    /// Since when it waits, or waited: ISO 8601.
    created_at: String,
    /// The last try; null before the first.
    #[schema(required = true)]
    last_attempt: Option<AttemptView>,
}

/// A try to deliver.
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
    /// Why there is no answer; null with one.
    #[schema(required = true)]
    error: Option<String>,
}

impl WebhookService {
    /// Reads what its parts read.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (secrets, artists) = (SecretTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            asked: RequestCounts::new(secrets),
            webhooks: Webhooks::new(artists.clone()),
            deliveries: Deliveries::new(artists.clone()),
            queue: WebhookQueue::new(artists),
        })
    }

    /// The artist who asks.
    pub async fn artist(&self, request: &Request) -> Result<ArtistId, ApiError> {
        Ok(self.sessions.authenticate_person(request).await?.artist)
    }

    /// One of the artist's webhooks, or 404.
    pub async fn webhook(&self, artist: ArtistId, id: WebhookId) -> Result<Webhook, ApiError> {
        self.webhooks.find(artist, id).await?.ok_or_else(|| no_webhook(id))
    }

    /// Counts a delivery that an artist asks for; 429 over the limit, 409 for a webhook that is off. One write.
    pub async fn admit(&self, request: &Request, artist: ArtistId, webhook: &Webhook) -> Result<u64, ApiError> {
        if !webhook.is_active() {
            return Err(ApiError::conflict(
                "The webhook is off: switch it on first, with PATCH and {\"active\": true}",
            ));
        }
        let now = clock::now()?.as_secs();
        let (window, end) = (now / HOUR, (now / HOUR + 1) * HOUR);
        let hits = self.asked.count(&format!("webhooks#{artist}"), window, end + HOUR).await?;
        let (unit, max, left) = (LimitUnit::Requests, ASKED_HOURLY.into(), ASKED_HOURLY.saturating_sub(hits).into());
        let (window, reset) = (Duration::from_secs(HOUR), Duration::from_secs(end - now));
        let limit = RateLimit { unit, max, window, left, reset };
        if hits > ASKED_HOURLY {
            return Err(ApiError::limited("You asked for many tests and redeliveries: wait", &limit));
        }
        request.note_limits(&[limit]);
        Ok(now)
    }

    /// Sends an event once more, or for the first time, behind what waits already. Two writes.
    pub async fn send(&self, artist: ArtistId, delivery: Delivery) -> Result<DeliveryView, ApiError> {
        let (webhook, view) = (delivery.webhook, DeliveryView::of(delivery.clone())?);
        self.deliveries.add(&[(artist, delivery)]).await?;
        self.queue.ask(artist, webhook).await?;
        Ok(view)
    }
}

/// An event that says nothing, to try a receiver with.
pub fn test_event(webhook: WebhookId, now: u64) -> Result<Delivery, ApiError> {
    let id = DeliveryId::next();
    let body = json!({
        "specversion": "1.0",
        "id": id,
        "source": "/service",
        "type": TEST,
        "time": clock::iso_8601(now)?,
        "subject": format!("/webhooks/{webhook}"),
        "datacontenttype": "application/json",
        "data": {"webhook": webhook},
    });
    Ok(Delivery::new(id, webhook, id.to_string(), TEST.to_owned(), body.to_string(), now))
}

const TEST: &str = "webhook.test";

/// 404.
pub fn no_webhook(id: WebhookId) -> ApiError {
    ApiError::not_found(format!("You have no webhook {id}"))
}

/// 400 for a receiver that isn't public.
pub fn require_public(receivers: &PrivateReceivers, url: &WebhookUrl) -> Result<(), ApiError> {
    if receivers.admit(url) {
        return Ok(());
    }
    Err(ApiError::invalid_field("url", "must start with https://, and its host must be a name"))
}

impl WebhookView {
    /// Shows a webhook. Fails for a time beyond the year 9999.
    pub fn of(webhook: Webhook) -> Result<Self, time::Error> {
        let Webhook { id, url, description, types, collection, status, created_at, rotated_at, .. } = webhook;
        let created_at = clock::iso_8601(created_at)?;
        let rotated_at = rotated_at.map(clock::iso_8601).transpose()?;
        Ok(Self { id, url, description, types, collection, status, created_at, rotated_at })
    }
}

impl DeliveryView {
    /// Shows a delivery. Fails for a time beyond the year 9999.
    pub fn of(delivery: Delivery) -> Result<Self, time::Error> {
        let attempt = |DeliveryAttempt { at, status, latency_ms, error }| {
            Ok::<_, time::Error>(AttemptView { at: clock::iso_8601(at)?, status, latency_ms, error })
        };
        Ok(Self {
            id: delivery.id,
            event_id: delivery.event,
            r#type: delivery.r#type,
            status: delivery.status,
            attempts: delivery.attempts,
            created_at: clock::iso_8601(delivery.created_at)?,
            last_attempt: delivery.last.map(attempt).transpose()?,
        })
    }
}
