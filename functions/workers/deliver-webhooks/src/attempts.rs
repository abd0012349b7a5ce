//! Webhooks that are being sent to, side by side.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use shared::{
    clock,
    model::WebhookId,
    store::artist::{DueWebhook, QueuePlace, QueueScan},
    telemetry::{self, trace},
};
use tokio::task::JoinSet;

use crate::{DeliverError, SHORT_POLL, deliver::Deliverer};

/// Longest try; a webhook that failed isn't tried within this time of the run's end.
const LONGEST: Duration = Duration::from_secs(11);

/// Webhooks that are sent to at the same time, and how many of them may have failed before: those that let every try hang
/// don't take the others' places.
const AT_ONCE: usize = 128;
const SUSPECTS_AT_ONCE: usize = 32;

/// Turns of a webhook that may fail by our fault, in one run.
const MOST_FAULTS: u32 = 3;

/// Those under way end with it.
#[derive(Default)]
pub(crate) struct Attempts {
    tasks: JoinSet<(WebhookId, bool)>,
    /// Whether each had failed before.
    under_way: HashMap<WebhookId, bool>,
    faults: HashMap<WebhookId, u32>,
    place: QueuePlace,
}

/// What is left of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    /// Whether something is due and has no place yet, or may be due.
    pub(crate) waits: bool,
    /// When the next try is due, in Unix seconds.
    pub(crate) next: Option<u64>,
}

impl Attempts {
    pub(crate) fn are_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Starts what is due, as far as there is room.
    pub(crate) async fn start(&mut self, deliverer: &Arc<Deliverer>, ends: Instant) -> Result<Pending, DeliverError> {
        if self.under_way.len() >= AT_ONCE {
            return Ok(Pending { waits: true, next: None });
        }
        let look = self.look(deliverer).await?;
        let mut left = Pending { waits: look.has_more, next: look.next };
        let is_near_end = Instant::now() + LONGEST >= ends;
        for due in look.due {
            let is_suspect = due.failures > 0;
            let suspects = self.under_way.values().filter(|suspect| **suspect).count();
            let has_room = self.under_way.len() < AT_ONCE && (!is_suspect || suspects < SUSPECTS_AT_ONCE);
            if !has_room || (is_suspect && is_near_end) {
                left.waits = true;
                continue;
            }
            self.under_way.insert(due.webhook, is_suspect);
            self.tasks.spawn(trace::carried(deliver(Arc::clone(deliverer), due, ends)));
        }
        Ok(left)
    }

    /// Whether something is due that isn't under way.
    pub(crate) async fn see_more(&mut self, deliverer: &Deliverer) -> Result<bool, DeliverError> {
        let look = self.look(deliverer).await?;
        Ok(look.has_more || !look.due.is_empty())
    }

    async fn look(&mut self, deliverer: &Deliverer) -> Result<QueueScan, DeliverError> {
        let Self { under_way, faults, place, .. } = self;
        let is_busy = |webhook| under_way.contains_key(&webhook) || faults.get(&webhook) >= Some(&MOST_FAULTS);
        Ok(deliverer.queue.look(clock::now()?.as_secs(), place, is_busy).await?)
    }

    /// Waits until something ended, for a short while at least and at most for `time`.
    pub(crate) async fn wait(&mut self, time: Duration) {
        tokio::time::sleep(time.min(SHORT_POLL)).await;
        let rest = time.saturating_sub(SHORT_POLL);
        if self.tasks.is_empty() {
            return tokio::time::sleep(rest).await;
        }
        if let Ok(Some(Ok(ended))) = tokio::time::timeout(rest, self.tasks.join_next()).await {
            self.note(ended);
        }
        while let Some(Ok(ended)) = self.tasks.try_join_next() {
            self.note(ended);
        }
    }

    fn note(&mut self, (webhook, is_delivered): (WebhookId, bool)) {
        self.under_way.remove(&webhook);
        if !is_delivered {
            *self.faults.entry(webhook).or_default() += 1;
        }
    }
}

async fn deliver(deliverer: Arc<Deliverer>, due: DueWebhook, ends: Instant) -> (WebhookId, bool) {
    let webhook = due.webhook;
    let done = deliverer.deliver(due, ends).await;
    if let Err(error) = &done {
        tracing::error!(webhook.id = %webhook, error = telemetry::chain(error), "deliveries of webhook {webhook} are put off");
    }
    (webhook, done.is_ok())
}
