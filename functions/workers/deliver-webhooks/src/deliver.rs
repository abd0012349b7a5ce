//! Delivers what waits for one webhook, in order.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use shared::{
    auth::webhook_secret::{WebhookSecret, WebhookSecrets},
    clock,
    mail::Mailer,
    model::{DAY, DeliveryStatus, WebhookId, WebhookStatus},
    store::{
        across::EventLogs,
        artist::{Artists, Challenge, Deliveries, Delivery, DueWebhook, SecretName, Webhook, WebhookQueue, Webhooks},
    },
    telemetry,
};
use tokio::sync::RwLock;

use crate::{
    DeliverError,
    pause::pause,
    send::{Outcome, Sender},
    words::withheld,
};

/// How long a delivery is tried, in seconds.
const PATIENCE: u64 = 3 * DAY;

/// How long a webhook may fail, in seconds.
const MERCY: u64 = 5 * DAY;

/// Why a webhook is switched off, for mails.
const FAILED: &str = "no try to deliver an event to it has succeeded for five days";
const UNANSWERED: &str = "its receiver hasn't answered its challenge for a day";

/// Deliveries that are read at a time.
const AHEAD: usize = 20;

/// Most secrets that are remembered.
const MAX_SECRETS: usize = 10_000;

/// What delivering takes.
pub(crate) struct Deliverer {
    pub(crate) logs: EventLogs,
    pub(crate) webhooks: Webhooks,
    pub(crate) deliveries: Deliveries,
    pub(crate) queue: WebhookQueue,
    pub(crate) artists: Artists,
    pub(crate) mailer: Mailer,
    pub(crate) secrets: WebhookSecrets,
    pub(crate) sender: Sender,
    /// Base URL of the service, for mails.
    pub(crate) origin: String,
    /// Held for writing while events are passed on.
    pub(crate) passing: Arc<RwLock<()>>,
    pub(crate) known: Mutex<HashMap<(WebhookId, SecretName), WebhookSecret>>,
    pub(crate) delivered: AtomicUsize,
    pub(crate) failed: AtomicUsize,
}

impl Deliverer {
    /// Delivers until nothing waits, a try fails, or `until`.
    pub(crate) async fn deliver(&self, mut due: DueWebhook, until: Instant) -> Result<(), DeliverError> {
        loop {
            let webhook = self.webhooks.find(due.artist_id, due.webhook).await?;
            let Some(webhook) = webhook.filter(Webhook::is_active) else {
                return Ok(self.queue.forget(&due).await?);
            };
            if let Some(challenge) = &webhook.challenge {
                if !self.challenge(&webhook, challenge, &mut due).await? || Instant::now() >= until {
                    return Ok(());
                }
                // Its artist may have named another receiver meanwhile.
                continue;
            }
            let waiting = {
                let _passed = self.passing.read().await;
                self.deliveries.pending(due.artist_id, due.webhook, AHEAD).await?
            };
            if waiting.is_empty() {
                return Ok(self.queue.settle(&due, clock::now()?.as_secs()).await?);
            }
            for delivery in waiting {
                let now = clock::now()?.as_secs();
                if delivery.created_at + PATIENCE <= now {
                    self.end(&due, delivery, DeliveryStatus::Expired).await?;
                } else if !self.attempt(&webhook, &mut due, delivery, now).await? || Instant::now() >= until {
                    return Ok(());
                }
            }
        }
    }

    /// Has the receiver prove that it wants events; `false` if it didn't.
    async fn challenge(
        &self,
        webhook: &Webhook,
        challenge: &Challenge,
        due: &mut DueWebhook,
    ) -> Result<bool, DeliverError> {
        let now = clock::now()?.as_secs();
        let secrets = self.secrets(webhook, now).await?;
        let (outcome, attempt) = self.sender.challenge(webhook, challenge, &secrets, now).await?;
        let off = match outcome {
            Outcome::Gone => Some(WebhookStatus::Gone),
            Outcome::Failed if challenge.is_over(now) => Some(WebhookStatus::Failing),
            Outcome::Taken | Outcome::Failed => None,
        };
        let is_switched_off = AtomicBool::new(false);
        let note = |found: &mut Webhook| {
            is_switched_off.store(false, Ordering::Relaxed);
            let is_active = found.is_active();
            let Some(sent) = found.challenge.as_mut().filter(|current| current.id == challenge.id) else { return };
            sent.last = Some(attempt.clone());
            if outcome == Outcome::Taken {
                found.challenge = None;
            }
            if let Some(status) = off.filter(|_| is_active) {
                found.status = status;
                is_switched_off.store(true, Ordering::Relaxed);
            }
        };
        self.webhooks.change(due.artist_id, due.webhook, note).await?;
        if outcome == Outcome::Taken {
            self.queue.recover(due).await?;
            return Ok(true);
        }
        self.failed.fetch_add(1, Ordering::Relaxed);
        if let Some(status) = off {
            self.queue.forget(due).await?;
            if status == WebhookStatus::Failing && is_switched_off.into_inner() {
                self.notify_owner(webhook, due, UNANSWERED).await;
            }
            return Ok(false);
        }
        if challenge.last.is_none() {
            // What another receiver did isn't this one's.
            (due.failures, due.failing_since) = (0, None);
        }
        due.failures = due.failures.saturating_add(1);
        due.failing_since = due.failing_since.or(Some(now));
        self.put_off(due).await?;
        Ok(false)
    }

    /// Tries once; `false` if the rest waits.
    async fn attempt(
        &self,
        webhook: &Webhook,
        due: &mut DueWebhook,
        mut delivery: Delivery,
        now: u64,
    ) -> Result<bool, DeliverError> {
        let secrets = self.secrets(webhook, now).await?;
        let body = withheld(&self.logs, &delivery.body).await?;
        let sent = Delivery { body: body.unwrap_or_else(|| delivery.body.clone()), ..delivery.clone() };
        let (outcome, attempt) = self.sender.send(&webhook.url, &sent, &secrets, now).await;
        delivery.attempts = delivery.attempts.saturating_add(1);
        delivery.last = Some(attempt);
        match outcome {
            Outcome::Taken => {
                self.delivered.fetch_add(1, Ordering::Relaxed);
                self.queue.recover(due).await?;
                self.end(due, delivery, DeliveryStatus::Delivered).await?;
                Ok(true)
            }
            Outcome::Gone => {
                self.end(due, delivery, DeliveryStatus::Refused).await?;
                self.switch_off(due, WebhookStatus::Gone).await?;
                Ok(false)
            }
            Outcome::Failed => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                self.deliveries.keep_pending(due.artist_id, &delivery).await?;
                due.failures = due.failures.saturating_add(1);
                let since = *due.failing_since.get_or_insert(now);
                if since + MERCY <= now {
                    self.switch_off(due, WebhookStatus::Failing).await?;
                    self.notify_owner(webhook, due, FAILED).await;
                    return Ok(false);
                }
                self.put_off(due).await?;
                Ok(false)
            }
        }
    }

    async fn put_off(&self, due: &DueWebhook) -> Result<(), DeliverError> {
        let random = uuid::Uuid::new_v4().as_u64_pair().1;
        Ok(self.queue.put_off(due, clock::now()?.as_secs() + pause(due.failures, random)).await?)
    }

    async fn end(&self, due: &DueWebhook, delivery: Delivery, status: DeliveryStatus) -> Result<(), DeliverError> {
        Ok(self.deliveries.end(due.artist_id, &Delivery { status, ..delivery }).await?)
    }

    /// Only a webhook that is on: what its artist says stays.
    async fn switch_off(&self, due: &DueWebhook, status: WebhookStatus) -> Result<(), DeliverError> {
        let change = |webhook: &mut Webhook| {
            if webhook.is_active() {
                webhook.status = status;
            }
        };
        self.webhooks.change(due.artist_id, due.webhook, change).await?;
        Ok(self.queue.forget(due).await?)
    }

    async fn notify_owner(&self, webhook: &Webhook, due: &DueWebhook, why: &str) {
        let notice = async {
            if let Some(to) = self.artists.contact(due.artist_id, clock::now()?.as_secs()).await?.email {
                self.mailer.send_webhook_off(&to, &webhook.url, why, &self.origin).await?;
            }
            Ok::<_, DeliverError>(())
        };
        if let Err(error) = notice.await {
            tracing::error!(error = telemetry::chain(&error), "owner not notified that a webhook is off");
        }
    }

    /// The secrets that sign now. A KMS call for each that isn't known yet.
    async fn secrets(&self, webhook: &Webhook, now: u64) -> Result<Vec<WebhookSecret>, DeliverError> {
        let mut secrets = Vec::new();
        for name in webhook.signing(now) {
            let key = (webhook.id, name);
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
            let secret = match known {
                Some(secret) => secret,
                None => self.secrets.secret(webhook, &key.1).await?,
            };
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_SECRETS {
                known.clear();
            }
            known.insert(key, secret.clone());
            secrets.push(secret);
        }
        Ok(secrets)
    }
}
