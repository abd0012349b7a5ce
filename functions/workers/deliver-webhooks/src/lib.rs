//! Sends events to webhooks. One process leads: it passes on what the logs of events tell, and delivers what waits,
//! webhooks side by side, each in order. Whatever it has begun and not ended is done again by the next leader.
#![warn(missing_docs)]

mod deliver;
mod fan_out;
mod pause;
mod send;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, atomic::Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;
use shared::{
    auth::webhook_secret::WebhookSecrets,
    chain::Chains,
    clock, config,
    http::StartError,
    kms::KmsError,
    mail::{MailError, Mailer},
    model::{LogName, WebhookId},
    public_web::PrivateReceivers,
    store::{Artists, Deliveries, DueWebhook, EventLogs, FanOut, StoreError, Table, WebhookQueue, Webhooks, WorkLease},
    telemetry::{self, Metric},
};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    deliver::Deliverer,
    fan_out::{Passer, Positions},
    send::Sender,
};

/// Time between two looks for new events.
const POLL: Duration = Duration::from_millis(500);
/// The same while there are some.
const SHORT_POLL: Duration = Duration::from_millis(50);

/// Pause between two signs of life of the leader.
const BEAT: Duration = Duration::from_secs(1);

/// How long a scheduled run waits for the one before to end.
const TURN: Duration = Duration::from_secs(15);

/// Longest try; a webhook that failed isn't tried within this time of the run's end.
const LONGEST: Duration = Duration::from_secs(11);

/// How long tries that are under way at the run's end are waited for.
const LAST: Duration = Duration::from_secs(2);

/// Webhooks that are sent to at the same time, and how many of them may have failed before: those that let every try hang
/// don't take the others' places.
const AT_ONCE: usize = 128;
const SUSPECTS_AT_ONCE: usize = 32;

/// Why a run stopped. What it had begun is stored.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// KMS failed.
    #[error(transparent)]
    Kms(#[from] KmsError),
    /// A mail wasn't sent.
    #[error(transparent)]
    Mail(#[from] MailError),
    /// A time beyond the year 9999.
    #[error(transparent)]
    Time(#[from] time::Error),
    /// An event that can't be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The clock is set before 1970.
    #[error(transparent)]
    Clock(#[from] std::time::SystemTimeError),
    /// Another process leads.
    #[error("another process leads")]
    LostLead,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// Events read from the logs.
    pub events: usize,
    /// Deliveries that a receiver took.
    pub delivered: usize,
    /// Tries that failed.
    pub failed: usize,
}

/// Sends events to all webhooks.
pub struct Worker {
    passer: Passer,
    deliverer: Arc<Deliverer>,
    holder: String,
}

impl Worker {
    /// Reads `CHAINS`, `CHAIN_TABLE`, `ARTIST_TABLE`, `WEBHOOK_KEY_ID`, `PRIVATE_WEBHOOKS`, `MAIL_SENDER` and
    /// `TOKEN_ISSUER`.
    pub async fn from_env() -> Result<Self, StartError> {
        let (aws, chains) = (config::aws().await, Chains::from_env()?);
        let table = Table::artists(&aws)?;
        let deliverer = Deliverer {
            webhooks: Webhooks::new(table.clone()),
            deliveries: Deliveries::new(table.clone()),
            queue: WebhookQueue::new(table.clone()),
            artists: Artists::new(table.clone()),
            mailer: Mailer::from_env(&aws)?,
            secrets: WebhookSecrets::from_env(&aws)?,
            sender: Sender::new(PrivateReceivers::from_env()?)?,
            origin: config::optional("TOKEN_ISSUER").unwrap_or_default().trim_end_matches('/').to_owned(),
            known: Mutex::default(),
            delivered: 0.into(),
            failed: 0.into(),
        };
        let passer = Passer {
            logs: EventLogs::new(Table::chain(&aws)?.eventually_consistent(), table.clone()),
            fan_out: FanOut::new(table),
            artists: deliverer.artists.clone(),
            webhooks: deliverer.webhooks.clone(),
            deliveries: deliverer.deliveries.clone(),
            queue: deliverer.queue.clone(),
            names: chains.iter().map(|chain| LogName::Chain(chain.id)).chain([LogName::Service]).collect(),
        };
        Ok(Self { passer, deliverer: Arc::new(deliverer), holder: Uuid::new_v4().to_string() })
    }

    /// Leads for the time of `wait`, and then until nothing is left to do, or `until`. Without a `wait`, at once without
    /// anything done if another process leads.
    pub async fn run(&self, until: Instant, wait: Duration) -> Result<Delivered, DeliverError> {
        let (fan_out, started) = (&self.passer.fan_out, Instant::now());
        let lease = loop {
            match fan_out.lead(&self.holder).await? {
                Some(lease) => break lease,
                None if started.elapsed() < TURN.min(wait) => tokio::time::sleep(POLL).await,
                None => return Ok(Delivered::default()),
            }
        };
        let mut done = Delivered::default();
        let ends = if wait.is_zero() { until } else { until.min(started + wait) };
        let led = tokio::select! {
            led = self.lead(&lease, ends, wait, &mut done) => led,
            () = self.stay_alive(lease.clone()) => Err(DeliverError::LostLead),
        };
        if let Err(error) = fan_out.give_lead_back(&lease).await {
            tracing::warn!(error = telemetry::chain(&error), "lead not given back");
        }
        done.delivered = self.deliverer.delivered.swap(0, Ordering::Relaxed);
        done.failed = self.deliverer.failed.swap(0, Ordering::Relaxed);
        let failed = i64::try_from(done.failed).unwrap_or(i64::MAX);
        telemetry::record(&[], &[(Metric::WebhookFailures, failed)]);
        tracing::info!(events = done.events, delivered = done.delivered, failed = done.failed, "events delivered");
        match led {
            Err(DeliverError::LostLead) => Ok(done),
            led => led.map(|()| done),
        }
    }

    async fn lead(
        &self,
        lease: &WorkLease,
        ends: Instant,
        wait: Duration,
        done: &mut Delivered,
    ) -> Result<(), DeliverError> {
        let (mut positions, mut tries) = (Positions::default(), Tries::default());
        let (mut most_left, mut failure) = (0, None);
        while Instant::now() < ends {
            let step = async {
                let look = self.passer.pass(lease, &mut positions).await?;
                Ok::<_, DeliverError>((look, tries.start(&self.deliverer, ends).await?))
            };
            match step.await {
                Ok((look, waits)) => {
                    failure = None;
                    done.events += look.read;
                    most_left = look.left.max(most_left);
                    if wait.is_zero() && look.read == 0 && !waits && tries.under_way.is_empty() {
                        break;
                    }
                    tries.wait(if look.read == 0 { POLL } else { SHORT_POLL }).await;
                }
                Err(DeliverError::LostLead) => return Err(DeliverError::LostLead),
                Err(error) => {
                    tracing::warn!(error = telemetry::chain(&error), "a look failed");
                    failure = Some(error);
                    positions.forget();
                    tries.wait(POLL).await;
                }
            }
        }
        if failure.is_none() {
            telemetry::record(&[], &[(Metric::FanOutLag, i64::try_from(most_left).unwrap_or(i64::MAX))]);
        }
        let last = Instant::now() + LAST;
        while !tries.under_way.is_empty() && Instant::now() < last {
            tries.wait(last.saturating_duration_since(Instant::now())).await;
        }
        failure.map_or(Ok(()), Err)
    }

    async fn stay_alive(&self, mut lease: WorkLease) {
        loop {
            tokio::time::sleep(BEAT).await;
            match self.passer.fan_out.beat(&mut lease).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(error = telemetry::chain(&error), "no sign of life"),
            }
        }
    }
}

/// Webhooks that are being sent to. Those under way end with it.
#[derive(Default)]
struct Tries {
    tasks: JoinSet<WebhookId>,
    /// Whether each had failed before.
    under_way: HashMap<WebhookId, bool>,
}

impl Tries {
    /// Starts what is due, as far as there is room. Returns whether something is due.
    async fn start(&mut self, deliverer: &Arc<Deliverer>, ends: Instant) -> Result<bool, DeliverError> {
        let now = clock::now()?.as_secs();
        let mut due: Vec<DueWebhook> = deliverer.queue.list().await?;
        due.retain(|due| due.is_due(now));
        due.sort_by_key(|due| due.due_at);
        let is_near_end = Instant::now() + LONGEST >= ends;
        for due in &due {
            let is_suspect = due.failures > 0;
            let suspects = self.under_way.values().filter(|suspect| **suspect).count();
            let has_room = self.under_way.len() < AT_ONCE && (!is_suspect || suspects < SUSPECTS_AT_ONCE);
            if !has_room || self.under_way.contains_key(&due.webhook) || (is_suspect && is_near_end) {
                continue;
            }
            self.under_way.insert(due.webhook, is_suspect);
            let (deliverer, due) = (Arc::clone(deliverer), due.clone());
            self.tasks.spawn(async move {
                let webhook = due.webhook;
                if let Err(error) = deliverer.deliver(due, ends).await {
                    tracing::error!(webhook.id = %webhook, error = telemetry::chain(&error), "deliveries wait");
                }
                webhook
            });
        }
        let started: HashSet<_> = self.under_way.keys().collect();
        Ok(due.iter().any(|due| !started.contains(&due.webhook)))
    }

    /// Waits until something ended, for a short while at least and at most for `time`.
    async fn wait(&mut self, time: Duration) {
        tokio::time::sleep(time.min(SHORT_POLL)).await;
        let rest = time.saturating_sub(SHORT_POLL);
        if self.tasks.is_empty() {
            return tokio::time::sleep(rest).await;
        }
        if let Ok(Some(Ok(webhook))) = tokio::time::timeout(rest, self.tasks.join_next()).await {
            self.under_way.remove(&webhook);
        }
        while let Some(Ok(webhook)) = self.tasks.try_join_next() {
            self.under_way.remove(&webhook);
        }
    }
}
