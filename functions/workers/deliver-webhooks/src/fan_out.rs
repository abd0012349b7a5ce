//! Passes what the logs tell on to the webhooks that it concerns.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    api::read::EventView,
    clock,
    model::{Address, ArtistId, DeliveryId, LogId, LogName, WebhookId},
    store::{
        across::EventLogs,
        artist::{Artists, Deliveries, Delivery, FanOutProgress, LogPosition, Webhook, WebhookQueue, Webhooks},
        engine::{Lease, NumberedEvent},
    },
};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use crate::DeliverError;

/// Rows of a log that are read at a time, of at most a hundred events each.
const ROWS: i32 = 10;

/// Age from which events aren't passed on, in seconds: a re-index doesn't send years of old events.
const TOO_OLD: u64 = 24 * 60 * 60;

const WRITES_AT_ONCE: usize = 8;

/// What passing on takes.
pub(crate) struct FanOut {
    pub(crate) logs: EventLogs,
    pub(crate) progress: FanOutProgress,
    pub(crate) artists: Artists,
    pub(crate) webhooks: Webhooks,
    pub(crate) deliveries: Deliveries,
    pub(crate) queue: WebhookQueue,
    pub(crate) names: Vec<LogName>,
    /// Held until all of a part of a log waits: nothing of it is delivered before.
    pub(crate) passing: Arc<RwLock<()>>,
}

/// What the leader knows of the logs; nobody else moves them.
#[derive(Default)]
pub(crate) struct Positions {
    known: HashMap<LogName, LogPosition>,
    /// Logs of which a part may be half stored.
    torn: HashSet<LogName>,
    /// Held while there are some.
    passing: Option<OwnedRwLockWriteGuard<()>>,
}

impl Positions {
    /// Has them read again.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether a part of what was passed on waits, and the rest doesn't.
    pub(crate) fn is_torn(&self) -> bool {
        !self.torn.is_empty()
    }
}

/// A look at all logs.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// Events read.
    pub(crate) read: usize,
    /// Events that weren't read yet.
    pub(crate) left: u64,
    /// Why a log wasn't passed on.
    pub(crate) failure: Option<DeliverError>,
}

impl FanOut {
    /// Passes on the next part of each log; one that can't be read holds up no other. Two reads for each; for events also
    /// those of their artists. Fails only if another process leads.
    pub(crate) async fn fan_out(&self, lease: &Lease, positions: &mut Positions) -> Result<ScanResult, DeliverError> {
        let mut scan = ScanResult::default();
        for name in &self.names {
            match self.fan_out_log(*name, lease, positions, &mut scan).await {
                Ok(()) => {}
                Err(DeliverError::LeaseLost) => return Err(DeliverError::LeaseLost),
                Err(error) => {
                    positions.known.remove(name);
                    scan.failure = Some(error);
                }
            }
        }
        Ok(scan)
    }

    async fn fan_out_log(
        &self,
        name: LogName,
        lease: &Lease,
        positions: &mut Positions,
        scan: &mut ScanResult,
    ) -> Result<(), DeliverError> {
        let Some(head) = self.logs.head(name).await? else {
            positions.known.entry(name).or_default();
            return Ok(());
        };
        let mut position = self.position(name, positions).await?;
        if position.log != head.log.to_string() {
            position = LogPosition { log: head.log.to_string(), after: 0, ..position };
        }
        if position.after >= head.last {
            return Ok(());
        }
        let events = self.logs.after(name, position.after, ROWS).await?;
        let Some(last) = events.last().map(|last| last.number) else { return Ok(()) };
        let read = events.len();
        let (deliveries, concerned) = self.deliveries_of(name, head.log, events, &mut position.tick).await?;
        position.after = last;
        if positions.passing.is_none() {
            positions.passing = Some(Arc::clone(&self.passing).write_owned().await);
        }
        positions.torn.insert(name);
        self.deliveries.add(&deliveries).await?;
        let notes = concerned.into_iter().map(|(webhook, artist)| self.queue.note_added(artist, webhook));
        stream::iter(notes).buffer_unordered(WRITES_AT_ONCE).try_collect::<()>().await?;
        if !self.progress.advance(lease, &name.to_string(), &position).await? {
            return Err(DeliverError::LeaseLost);
        }
        positions.torn.remove(&name);
        if !positions.is_torn() {
            positions.passing = None;
        }
        positions.known.insert(name, position);
        scan.read += read;
        scan.left += head.last.saturating_sub(last);
        Ok(())
    }

    /// Whether a log has more than was passed on. One read for each.
    pub(crate) async fn is_behind(&self, positions: &Positions) -> Result<bool, DeliverError> {
        for (name, position) in &positions.known {
            let head = self.logs.head(*name).await?;
            if head.is_some_and(|head| head.log.to_string() != position.log || head.last > position.after) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn position(&self, name: LogName, positions: &mut Positions) -> Result<LogPosition, DeliverError> {
        if let Some(known) = positions.known.get(&name) {
            return Ok(known.clone());
        }
        let position = self.progress.position(&name.to_string()).await?;
        positions.known.insert(name, position.clone());
        Ok(position)
    }

    /// What is sent, and to which webhooks. The same events have the same ids whenever they are passed on.
    async fn deliveries_of(
        &self,
        name: LogName,
        log: LogId,
        events: Vec<NumberedEvent>,
        tick: &mut u64,
    ) -> Result<(Vec<(ArtistId, Delivery)>, BTreeMap<WebhookId, ArtistId>), DeliverError> {
        let now = clock::now()?.as_secs();
        let accounts: BTreeSet<Address> = events.iter().flat_map(|event| event.event.accounts()).collect();
        let owners = self.artists.readable_owners(&Vec::from_iter(accounts)).await?;
        let artists: BTreeSet<ArtistId> = owners.values().copied().collect();
        let webhooks = self.webhooks.of_artists(&Vec::from_iter(artists)).await?;
        let (mut deliveries, mut concerned) = (Vec::new(), BTreeMap::new());
        for event in events {
            *tick = (*tick + 1).max(event.event.time.saturating_mul(1_000) << 12);
            let artists: BTreeSet<ArtistId> =
                event.event.accounts().iter().filter_map(|account| owners.get(account).copied()).collect();
            let of_artist = |artist: ArtistId| webhooks.get(&artist).into_iter().flatten().map(move |it| (artist, it));
            let wanting = artists.into_iter().flat_map(of_artist).filter(|(_, webhook)| wants(webhook, &event));
            let wanting: Vec<(ArtistId, WebhookId)> = wanting.map(|(artist, webhook)| (artist, webhook.id)).collect();
            if wanting.is_empty() || event.event.time + TOO_OLD <= now {
                continue;
            }
            let (id, kind) = (DeliveryId::of_tick(*tick, log), event.event.r#type());
            // An event that is taken back, or told again after that, has the same id: its place in the log tells them apart.
            let message = format!("{}.{}", event.event.id, event.number);
            let body = serde_json::to_string(&EventView::of(name, event)?)?;
            for (artist, webhook) in wanting {
                let delivery = Delivery::new(id, webhook, message.clone(), kind.clone(), body.clone(), now);
                deliveries.push((artist, delivery));
                concerned.insert(webhook, artist);
            }
        }
        Ok((deliveries, concerned))
    }
}

fn wants(webhook: &Webhook, event: &NumberedEvent) -> bool {
    let kind = event.event.data.kind();
    let is_type = webhook.types.is_empty() || webhook.types.contains(&kind);
    let is_collection =
        webhook.collection.is_none_or(|collection| event.event.about().collection() == Some(collection));
    webhook.is_active() && is_type && is_collection
}
