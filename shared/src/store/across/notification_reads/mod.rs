//! Viewed notifications: settled payments are marked by number, a whole list in one write; others by id, since a
//! reorganisation can change their numbers. Rows: docs/data-model.md, Viewed notifications.

mod state;

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use self::state::{CHUNK, ReadBitmap, State, Viewed, numbers};
use crate::{
    model::{ChainId, EventId, Payment},
    store::{
        artist::rows,
        chain::payments::{NotificationList, NotificationPlace, PaymentPage, Payments},
        engine::{
            structures::{
                merged::{self, NewestFirst, Rest},
                numbered_list::CountedPage,
            },
            table::{ArtistTable, ChainTable, PrimaryKey, StoreError, backoff, number, row},
        },
    },
};

/// Notifications marked per transaction; each may touch a row of its own.
const MAX_MARKED: usize = 50;

const ATTEMPTS: u32 = 8;
const AT_ONCE: usize = 8;
const CONTENTION: StoreError = StoreError::Contention("viewed notifications");

/// Viewed notifications of all artists.
#[derive(Clone)]
pub struct NotificationReads {
    table: ArtistTable,
    payments: Payments,
}

/// A page of numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NumberPage {
    /// Numbers, largest first.
    pub numbers: Vec<u64>,
    /// Whether another page follows.
    pub more: bool,
    /// How many there are.
    pub total: u64,
}

#[derive(Deserialize)]
struct StateRow {
    pk: String,
    #[serde(flatten)]
    state: State,
}

#[derive(Deserialize)]
struct ReadBitmapRow {
    #[serde(flatten)]
    key: PrimaryKey,
    #[serde(flatten)]
    marks: ReadBitmap,
}

struct OneList<'a> {
    reads: &'a NotificationReads,
    list: NotificationList,
    length: u64,
    viewed: bool,
}

impl NewestFirst for OneList<'_> {
    type Row = Payment;
    type Key = (u64, ChainId);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<Payment>, StoreError> {
        let Self { reads, list, length, viewed } = self;
        let page = reads.page(*list, *length, *viewed, offset, limit).await?;
        let end = page.total.saturating_sub(offset);
        Ok(CountedPage { rows: reads.payments.of_artist(*list, &page.numbers).await?, total: page.total, end })
    }

    fn key(&self, payment: &Payment) -> Self::Key {
        (payment.transferred_at, self.list.chain)
    }
}

type AllMarks = HashMap<(NotificationList, u64), ReadBitmap>;

impl NotificationReads {
    /// Uses both tables: the artist table for the marks, the chain table for what they are on.
    pub fn new(chain: ChainTable, artists: ArtistTable) -> Self {
        Self { table: artists, payments: Payments::new(chain) }
    }

    /// Returns, per notification, whether it is viewed; 100 at most. Two reads.
    pub async fn are_viewed(&self, notifications: &[NotificationPlace]) -> Result<Vec<bool>, StoreError> {
        let states = self.states(notifications.iter().map(|it| it.list)).await?;
        let of = |list: &NotificationList| states.get(list).cloned().unwrap_or_default();
        let undecided = notifications.iter().filter(|it| of(&it.list).may_be_marked(it.number));
        let marks = self.marks(undecided.map(|it| (it.list, it.number / CHUNK))).await?;
        let is_viewed = |it: &NotificationPlace| {
            let state = of(&it.list);
            let is_marked = marks.get(&(it.list, it.number / CHUNK)).is_some_and(|marks| marks.has(it.number));
            state.all_below > it.number || is_marked || state.recent.contains(&it.id)
        };
        Ok(notifications.iter().map(is_viewed).collect())
    }

    /// Viewed or unviewed numbers of a list of `length`, largest first, from `offset` on. Two or three reads.
    pub async fn page(
        &self,
        list: NotificationList,
        length: u64,
        viewed: bool,
        offset: u64,
        limit: usize,
    ) -> Result<NumberPage, StoreError> {
        let state = self.states([list]).await?.remove(&list).unwrap_or_default();
        let recent = self.places_of(list, &state).await?;
        let all = Viewed::new(state, recent.into_iter().map(|place| place.number));
        let (chunks, skipped) = all.chunks(length, viewed, offset, limit + 1);
        let uncertain = chunks.iter().filter(|chunk| all.state.marked_in(**chunk) > 0);
        let marks = self.marks(uncertain.map(|chunk| (list, *chunk))).await?;
        let is_wanted = |number: &u64| {
            let is_marked = marks.get(&(list, number / CHUNK)).is_some_and(|marks| marks.has(*number));
            (all.state.all_below > *number || is_marked || all.recent.contains(number)) == viewed
        };
        let numbers = chunks.into_iter().flat_map(|chunk| numbers(chunk, length).rev()).filter(is_wanted);
        let mut numbers: Vec<u64> =
            numbers.skip(usize::try_from(skipped).unwrap_or(usize::MAX)).take(limit + 1).collect();
        let more = numbers.len() > limit;
        numbers.truncate(limit);
        let unviewed = all.unviewed(length);
        Ok(NumberPage { numbers, more, total: if viewed { length.saturating_sub(unviewed) } else { unviewed } })
    }

    /// Viewed or unviewed notifications of several lists, newest first. Three or four reads a list, two more per 100.
    pub async fn newest_of(
        &self,
        lists: &[NotificationList],
        viewed: bool,
        offset: u64,
        limit: usize,
    ) -> Result<PaymentPage, StoreError> {
        let lengths = self.payments.notification_counts(lists.iter().copied()).await?;
        let list =
            |list: &NotificationList| Some(OneList { reads: self, list: *list, length: *lengths.get(list)?, viewed });
        let page = merged::newest(&Vec::from_iter(lists.iter().filter_map(list)), offset, limit).await?;
        Ok(PaymentPage { total: page.total(), payments: page.rows, rest: Rest::default() })
    }

    /// Marks everything in up to 100 lists; returns how many were unviewed. Three reads each and a transaction.
    pub async fn mark_all(&self, lists: &[NotificationList]) -> Result<u64, StoreError> {
        for attempt in 0..ATTEMPTS {
            let states = self.states(lists.iter().copied()).await?;
            let calls = lists.iter().map(|list| self.all_viewed(*list, states.get(list).cloned().unwrap_or_default()));
            let changes: Vec<_> = stream::iter(Vec::from_iter(calls)).buffered(AT_ONCE).try_collect().await?;
            let (mut writes, mut updated) = (Vec::new(), 0);
            for (list, (state, new)) in lists.iter().zip(changes) {
                if new > 0 {
                    writes.push(self.replacement(*list, state)?);
                    updated += new;
                }
            }
            if self.write(writes, attempt).await? {
                return Ok(updated);
            }
        }
        Err(CONTENTION)
    }

    /// The state after everything is marked, and how many were unviewed.
    async fn all_viewed(&self, list: NotificationList, state: State) -> Result<(State, u64), StoreError> {
        let settled_block = self.payments.settled_block(list.chain).await?;
        let end = self.payments.unsettled(list, settled_block).await?;
        let places = self.places_of(list, &state).await?;
        let settled = places.iter().filter(|place| place.number < end.settled);
        let before = Viewed::new(state.clone(), settled.map(|place| place.number));
        let unsettled = end.ids.iter().filter(|id| !state.recent.contains(*id)).count() as u64;
        let new = before.unviewed(end.settled) + unsettled;
        // A payment that a reorganisation dropped may come back.
        let known: BTreeSet<EventId> = places.iter().map(|place| place.id).collect();
        let gone = state.recent.iter().filter(|id| !known.contains(id)).copied();
        let recent = gone.chain(end.ids.into_iter().rev()).collect();
        Ok((State::all(end.settled.max(state.all_below), recent, state.version), new))
    }

    /// Marks some of a list; returns how many were unviewed. Four reads and one transaction per 50.
    pub async fn mark(&self, list: NotificationList, places: &[NotificationPlace]) -> Result<u64, StoreError> {
        let settled = self.payments.settled_block(list.chain).await?;
        let mut updated = 0;
        for places in places.chunks(MAX_MARKED) {
            updated += self.mark_few(list, places, settled).await?;
        }
        Ok(updated)
    }

    async fn mark_few(
        &self,
        list: NotificationList,
        places: &[NotificationPlace],
        settled: Option<u64>,
    ) -> Result<u64, StoreError> {
        let is_settled = |place: &&NotificationPlace| settled.is_some_and(|settled| place.block <= settled);
        for attempt in 0..ATTEMPTS {
            let mut state = self.states([list]).await?.remove(&list).unwrap_or_default();
            let recent = self.places_of(list, &state).await?;
            let old = recent.iter().filter(is_settled);
            let (mut changed, mut updated) = (BTreeSet::new(), 0);
            let numbers = || old.clone().chain(places.iter().filter(is_settled)).map(|place| place.number);
            let mut marks = self.marks(numbers().map(|number| (list, number / CHUNK))).await?;
            let mut is_new = |number: u64, state: &mut State| {
                let chunk = (list, number / CHUNK);
                let is_new =
                    number >= state.all_below && marks.entry(chunk).or_insert_with(ReadBitmap::none).set(number);
                if is_new {
                    state.count(number / CHUNK);
                    changed.insert(chunk);
                }
                is_new
            };
            for place in old.clone() {
                is_new(place.number, &mut state);
                state.recent.retain(|id| *id != place.id);
            }
            for place in places {
                let is_new =
                    if is_settled(&place) { is_new(place.number, &mut state) } else { state.add_recent(place.id) };
                updated += u64::from(is_new);
            }
            let mut writes = Vec::new();
            for chunk in changed {
                let item = row(&marks_key(chunk), &marks.get(&chunk))?;
                let put = Put::builder().table_name(&self.table.name).set_item(Some(item)).build()?;
                writes.push(TransactWriteItem::builder().put(put).build());
            }
            if updated > 0 {
                writes.push(self.replacement(list, state)?);
            } else {
                writes.clear();
            }
            if self.write(writes, attempt).await? {
                return Ok(updated);
            }
        }
        Err(CONTENTION)
    }

    /// Where the recent ids of a list are now; those that a reorganisation dropped are left out. One read per 100.
    async fn places_of(&self, list: NotificationList, state: &State) -> Result<Vec<NotificationPlace>, StoreError> {
        let ids = state.recent.iter().copied().collect();
        let places = self.payments.notification_places(&ids).await?;
        Ok(places.into_values().filter(|place| place.list == list).collect())
    }

    async fn write(&self, writes: Vec<TransactWriteItem>, attempt: u32) -> Result<bool, StoreError> {
        let written = writes.is_empty() || self.table.write_together(writes).await?;
        if !written {
            tokio::time::sleep(backoff(attempt)).await;
        }
        Ok(written)
    }

    async fn states(
        &self,
        lists: impl IntoIterator<Item = NotificationList>,
    ) -> Result<HashMap<NotificationList, State>, StoreError> {
        let by_partition: HashMap<String, NotificationList> =
            lists.into_iter().map(|list| (partition(list), list)).collect();
        let keys = by_partition.values().map(|list| rows::viewed_state(list.chain, list.artist));
        let rows: Vec<StateRow> = self.table.get_many(keys).await?;
        Ok(rows.into_iter().filter_map(|row| Some((*by_partition.get(&row.pk)?, row.state))).collect())
    }

    async fn marks(&self, chunks: impl Iterator<Item = (NotificationList, u64)>) -> Result<AllMarks, StoreError> {
        let by_key: HashMap<PrimaryKey, (NotificationList, u64)> =
            chunks.map(|chunk| (marks_key(chunk), chunk)).collect();
        let rows: Vec<ReadBitmapRow> = self.table.get_many(by_key.keys().cloned()).await?;
        Ok(rows.into_iter().filter_map(|row| Some((*by_key.get(&row.key)?, row.marks))).collect())
    }

    fn replacement(&self, list: NotificationList, mut state: State) -> Result<TransactWriteItem, StoreError> {
        let before = state.version;
        state.version += 1;
        let item = row(&rows::viewed_state(list.chain, list.artist), &state)?;
        let put = Put::builder().table_name(&self.table.name).set_item(Some(item));
        let put = match before {
            0 => put.condition_expression("attribute_not_exists(pk)"),
            _ => put
                .condition_expression("#version = :before")
                .expression_attribute_names("#version", "version")
                .expression_attribute_values(":before", number(before)),
        };
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }
}

fn partition(list: NotificationList) -> String {
    rows::viewed_notifications(list.chain, list.artist)
}

fn marks_key((list, chunk): (NotificationList, u64)) -> PrimaryKey {
    rows::viewed_marks(list.chain, list.artist, chunk)
}
