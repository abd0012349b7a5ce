//! Sends events to webhooks, and has those that artists want to hear of mailed. One process leads until nothing is left to do: it passes on what the logs of events tell, and
//! delivers what waits, webhooks side by side, each in order. Whatever it has begun and not ended is done again by the next
//! leader.
#![warn(missing_docs)]

mod attempts;
mod deliver;
mod fan_out;
mod pause;
mod send;
mod words;

use std::{
    sync::{Arc, Mutex, atomic::Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;
use shared::{
    auth::webhook_secret::WebhookSecrets,
    chain::Chains,
    clock,
    config::{self, StartError},
    kms::KmsError,
    mail::{MailError, Mailer},
    model::LogName,
    public_web::PrivateReceivers,
    store::{
        StoreError,
        across::EventLogs,
        artist::{ArtistTable, Artists, Deliveries, FanOutProgress, Gifts, NewsQueue, WebhookQueue, Webhooks},
        chain::ChainTable,
        engine::{Lease, LeaseLost, LeasedWork},
    },
    telemetry::{self, Metric},
};
use uuid::Uuid;

use crate::{
    attempts::{Attempts, Pending},
    deliver::Deliverer,
    fan_out::{FanOut, Positions},
    send::Sender,
};

/// Time between two looks for new events while something is under way.
const POLL: Duration = Duration::from_millis(500);
/// The same while there are some.
const SHORT_POLL: Duration = Duration::from_millis(50);
/// The same while only a later try is waited for.
const LONG_POLL: Duration = Duration::from_secs(1);

/// A later try within this time, in seconds, is waited for: the first two after a failure. The schedule begins the others.
const LINGER: u64 = 45;

/// Looks that may fail one after another before a run does.
const MOST_FAILURES: u32 = 3;

/// How long attempts that are under way at the run's end are waited for.
const LAST: Duration = Duration::from_secs(2);

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
    /// Another process holds the lease.
    #[error("another process holds the lease")]
    LeaseLost,
}

impl From<LeaseLost> for DeliverError {
    fn from(_: LeaseLost) -> Self {
        Self::LeaseLost
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// Events read from the logs.
    pub events: usize,
    /// Deliveries that a receiver took.
    pub delivered: usize,
    /// Attempts that failed.
    pub failed: usize,
}

/// Sends events to all webhooks.
pub struct Worker {
    fan_out: FanOut,
    deliverer: Arc<Deliverer>,
    holder: String,
}

impl Worker {
    /// Reads `CHAINS`, `CHAIN_TABLE`, `ARTIST_TABLE`, `WEBHOOK_KEY_IDS`, `PRIVATE_WEBHOOKS`, `MAIL_SENDER` and
    /// `TOKEN_ISSUER`.
    pub async fn from_env() -> Result<Self, StartError> {
        let (aws, chains) = (config::aws().await, Chains::from_env()?);
        let table = ArtistTable::from_env(&aws)?;
        let logs = EventLogs::new(ChainTable::from_env(&aws)?.eventually_consistent(), table.clone());
        let deliverer = Deliverer {
            logs: logs.clone(),
            webhooks: Webhooks::new(table.clone()),
            deliveries: Deliveries::new(table.clone()),
            queue: WebhookQueue::new(table.clone()),
            artists: Artists::new(table.clone()),
            mailer: Mailer::from_env(&aws)?,
            secrets: WebhookSecrets::from_env(&aws)?,
            sender: Sender::new(PrivateReceivers::from_env()?)?,
            origin: config::optional(config::variables::TOKEN_ISSUER)
                .unwrap_or_default()
                .trim_end_matches('/')
                .to_owned(),
            passing: Arc::default(),
            known: Mutex::default(),
            delivered: 0.into(),
            failed: 0.into(),
        };
        let fan_out = FanOut {
            logs,
            news: NewsQueue::new(table.clone()),
            gifts: Gifts::new(table.clone()),
            progress: FanOutProgress::new(table),
            artists: deliverer.artists.clone(),
            webhooks: deliverer.webhooks.clone(),
            deliveries: deliverer.deliveries.clone(),
            queue: deliverer.queue.clone(),
            passing: Arc::clone(&deliverer.passing),
            names: chains.iter().map(|chain| LogName::Chain(chain.id)).chain([LogName::Service]).collect(),
        };
        Ok(Self { fan_out, deliverer: Arc::new(deliverer), holder: Uuid::new_v4().to_string() })
    }

    /// Leads until nothing is left to do, or `until`; at once without anything done if another process leads.
    pub async fn run(&self, until: Instant) -> Result<Delivered, DeliverError> {
        let mut run = Run {
            worker: self,
            until,
            positions: Positions::default(),
            attempts: Attempts::default(),
            most_left: None,
            events: 0,
        };
        let led = loop {
            match self.fan_out.progress.hold_lease(&self.holder, until, &mut run).await {
                Ok(true) => {}
                Ok(false) | Err(DeliverError::LeaseLost) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let done = Delivered {
            events: run.events,
            delivered: self.deliverer.delivered.swap(0, Ordering::Relaxed),
            failed: self.deliverer.failed.swap(0, Ordering::Relaxed),
        };
        if let Some(most_left) = run.most_left {
            let failed = i64::try_from(done.failed).unwrap_or(i64::MAX);
            telemetry::record(&[], &[(Metric::WebhookFailures, failed)]);
            // A run that fails says nothing, which sets the alarm off: what it left, it doesn't know.
            if led.is_ok() {
                telemetry::record(&[], &[(Metric::FanOutLag, i64::try_from(most_left).unwrap_or(i64::MAX))]);
            }
            tracing::info!(events = done.events, delivered = done.delivered, failed = done.failed, "events delivered");
        }
        led.map(|()| done)
    }
}

/// A run, and what it knows. Attempts under way end with it.
struct Run<'a> {
    worker: &'a Worker,
    until: Instant,
    positions: Positions,
    attempts: Attempts,
    /// `None` until it leads.
    most_left: Option<u64>,
    events: usize,
}

impl LeasedWork for Run<'_> {
    type Lease = Lease;
    type Error = DeliverError;

    async fn run(&mut self, lease: &Lease) -> Result<bool, DeliverError> {
        // Another process may have led since.
        self.positions.forget();
        let (mut failures, mut failure) = (0, None);
        while Instant::now() < self.until && failures < MOST_FAILURES {
            let scan = self.worker.fan_out.fan_out(lease, &mut self.positions).await?;
            self.events += scan.read;
            self.most_left = self.most_left.max(Some(scan.left));
            // A part that is passed on again is whole before any of it is sent.
            let start = async {
                if self.positions.is_torn() {
                    Ok(Pending::default())
                } else {
                    self.attempts.start(&self.worker.deliverer, self.until).await
                }
            };
            let left = match start.await {
                Ok(left) => {
                    failure = scan.failure;
                    left
                }
                Err(error) => {
                    failure = Some(error);
                    Pending::default()
                }
            };
            failures = if failure.is_some() { failures + 1 } else { 0 };
            if let Some(error) = &failure {
                tracing::warn!(error = telemetry::chain(error), "webhook scan failed ({failures} of {MOST_FAILURES})");
            }
            let is_busy = left.waits || self.attempts.are_under_way() || failure.is_some();
            let now = clock::now()?.as_secs();
            let is_soon = left.next.is_some_and(|next| next <= now + LINGER);
            match (scan.read, is_busy) {
                (0, false) if !is_soon => break,
                (0, false) => self.attempts.wait(LONG_POLL).await,
                (0, true) => self.attempts.wait(POLL).await,
                _ => self.attempts.wait(SHORT_POLL).await,
            }
        }
        let last = Instant::now() + LAST;
        while self.attempts.are_under_way() && Instant::now() < last {
            self.attempts.wait(last.saturating_duration_since(Instant::now())).await;
        }
        failure.map_or(Ok(true), Err)
    }

    async fn is_left(&mut self) -> Result<bool, DeliverError> {
        Ok(self.worker.fan_out.is_behind(&self.positions).await?
            || self.attempts.see_more(&self.worker.deliverer).await?)
    }

    async fn wake(&mut self) -> Result<(), DeliverError> {
        Ok(self.worker.fan_out.progress.wake(clock::now()?.as_secs()).await?)
    }
}
