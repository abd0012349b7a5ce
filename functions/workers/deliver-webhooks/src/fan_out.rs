//! Passes what the logs tell on to the webhooks that it concerns, and to the mails of those whose moments it is about.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    api::read::EventView,
    clock,
    model::{About, Address, ArtistId, DeliveryId, Event, EventData, LogId, LogName, MomentRef, WebhookId},
    store::{
        across::EventLogs,
        artist::{
            Artists, Deliveries, Delivery, FanOutProgress, Gift, Gifts, LogPosition, News, NewsQueue, Webhook,
            WebhookQueue, Webhooks,
        },
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
    pub(crate) news: NewsQueue,
    pub(crate) gifts: Gifts,
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
        let owners = self.owners_of(&events).await?;
        self.add_news(&events, &owners).await?;
        let (deliveries, concerned) = self.deliveries_of(name, head.log, events, &owners, &mut position.tick).await?;
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

    /// The artists of the accounts that events concern. One read per 100 accounts.
    async fn owners_of(&self, events: &[NumberedEvent]) -> Result<HashMap<Address, ArtistId>, DeliverError> {
        let accounts: BTreeSet<Address> = events.iter().flat_map(|event| event.event.accounts()).collect();
        Ok(self.artists.readable_owners(&Vec::from_iter(accounts)).await?)
    }

    /// Has what others did with artists' moments, and what was given to mail addresses, mailed to them. None of the calls
    /// below without such an event: one read per 100 artists, a write per 25 events.
    async fn add_news(
        &self,
        events: &[NumberedEvent],
        owners: &HashMap<Address, ArtistId>,
    ) -> Result<(), DeliverError> {
        let now = clock::now()?.as_secs();
        let recent = || events.iter().map(|event| &event.event).filter(|event| event.time + TOO_OLD > now);
        let gifts = self.gifts_of(recent()).await?;
        let told =
            recent().filter_map(|event| Told::of(event, owners, now).or_else(|| Told::of_gift(event, &gifts, now)));
        let told: Vec<Told> = told.collect();
        if told.is_empty() {
            return Ok(());
        }
        let artists: BTreeSet<ArtistId> = told.iter().map(|told| told.artist).collect();
        let choices = self.news.choices(&Vec::from_iter(artists)).await?;
        let due = |told: &Told| {
            let due = choices.get(&told.artist).copied().unwrap_or_default().due(told.artist, now)?;
            // Who is given something may not know of this service yet.
            Some(if told.news.giver.is_some() { now } else { due })
        };
        let changes = told.into_iter().filter_map(|told| {
            let change = if told.is_reverted { None } else { Some((due(&told)?, told.news.clone())) };
            Some((told.artist, told.news.event, change))
        });
        Ok(self.news.change(changes).await?)
    }

    /// What was given to mail addresses, by account and moment. One read per 100 new tokens that nobody paid for.
    async fn gifts_of(
        &self,
        events: impl Iterator<Item = &Event>,
    ) -> Result<HashMap<(Address, MomentRef), Gift>, DeliverError> {
        let given: BTreeSet<_> = events.filter_map(given).collect();
        let gifts = self.gifts.of(given).await?;
        Ok(gifts.into_iter().map(|gift| ((gift.wallet, gift.moment()), gift)).collect())
    }

    /// What is sent, and to which webhooks. The same events have the same ids whenever they are passed on.
    async fn deliveries_of(
        &self,
        name: LogName,
        log: LogId,
        events: Vec<NumberedEvent>,
        owners: &HashMap<Address, ArtistId>,
        tick: &mut u64,
    ) -> Result<(Vec<(ArtistId, Delivery)>, BTreeMap<WebhookId, ArtistId>), DeliverError> {
        let now = clock::now()?.as_secs();
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

/// What an artist is told.
struct Told {
    artist: ArtistId,
    news: News,
    is_reverted: bool,
}

impl Told {
    /// What somebody did with another one's moment.
    fn of(event: &Event, owners: &HashMap<Address, ArtistId>, now: u64) -> Option<Self> {
        let (owner, by, copies) = match &event.data {
            EventData::MomentCollected(of) => (of.owner, of.to, Some(of.quantity)),
            EventData::CommentCreated(of) => (of.owner, of.sender, None),
            _ => return None,
        };
        let artist = *owners.get(&owner)?;
        let About::Moment(moment) = event.about() else { return None };
        let is_own = owners.get(&by) == Some(&artist);
        let news = News::new(event.id, moment, copies, now);
        (!is_own).then_some(Self { artist, news, is_reverted: event.is_reverted })
    }

    /// What somebody was given.
    fn of_gift(event: &Event, gifts: &HashMap<(Address, MomentRef), Gift>, now: u64) -> Option<Self> {
        let EventData::MomentTransferred(of) = &event.data else { return None };
        let gift = gifts.get(&given(event)?)?;
        let news = News::of_gift(event.id, gift, of.quantity, now);
        Some(Self { artist: gift.artist_id, news, is_reverted: event.is_reverted })
    }
}

/// Who got a new token for nothing, and of which moment.
fn given(event: &Event) -> Option<(Address, MomentRef)> {
    let EventData::MomentTransferred(of) = &event.data else { return None };
    let About::Moment(moment) = event.about() else { return None };
    (of.from == Address::ZERO).then_some((of.to, moment))
}

fn wants(webhook: &Webhook, event: &NumberedEvent) -> bool {
    let kind = event.event.data.kind();
    let is_type = webhook.types.is_empty() || webhook.types.contains(&kind);
    let is_collection =
        webhook.collection.is_none_or(|collection| event.event.about().collection() == Some(collection));
    webhook.is_active() && is_type && is_collection
}
