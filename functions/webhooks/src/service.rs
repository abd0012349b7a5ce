//! The parts that endpoints for webhooks have in common.

use std::time::Duration;

use shared::{
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, LimitUnit, RateLimit, Request},
    model::{ArtistId, WebhookId, WebhookUrl},
    public_web::PrivateReceivers,
    store::{
        artist::{ArtistTable, Deliveries, Delivery, Webhook, WebhookQueue, Webhooks},
        secret::{RequestCounts, SecretTable},
    },
};

use crate::DeliveryView;

/// Most deliveries and challenges that an artist may ask for in an hour of the clock.
const ASKED_HOURLY: u32 = 60;

const HOUR: u64 = 60 * 60;

/// The parts of endpoints for webhooks.
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
        self.count(request, artist).await
    }

    /// Counts a message that an artist has sent to a receiver, and returns the time in Unix seconds; 429 over the limit. One
    /// write.
    pub async fn count(&self, request: &Request, artist: ArtistId) -> Result<u64, ApiError> {
        let now = clock::now()?.as_secs();
        let (window, end) = (now / HOUR, (now / HOUR + 1) * HOUR);
        let hits = self.asked.count(&format!("webhooks#{artist}"), window, end + HOUR).await?;
        let (unit, max, left) = (LimitUnit::Requests, ASKED_HOURLY.into(), ASKED_HOURLY.saturating_sub(hits).into());
        let (window, reset) = (Duration::from_secs(HOUR), Duration::from_secs(end - now));
        let limit = RateLimit { unit, max, window, left, reset };
        if hits > ASKED_HOURLY {
            return Err(ApiError::limited("You asked for many tests, redeliveries and challenges: wait", &limit));
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

/// 404: the artist has no such webhook.
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
