//! Viewed notifications: marking a whole list is one write. Rows: docs/data-model.md, Viewed notifications.

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::Bytes;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use super::table::{PrimaryKey, StoreError, Table, backoff, number, row};
use crate::model::{Address, ChainId};

const CHUNK: u64 = 4_096;

/// Notifications marked per transaction; each may touch a row of its own.
const MAX_MARKED: usize = 50;

const ATTEMPTS: u32 = 8;
const CONTENTION: StoreError = StoreError::Contention("viewed notifications");

/// Viewed notifications of all artists.
#[derive(Clone)]
pub struct NotificationReads(Table);

/// Notifications of one artist on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NotificationList {
    /// The chain.
    pub chain: ChainId,
    /// The artist's embedded wallet.
    pub artist: Address,
}

/// A page of numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NumberPage {
    /// Numbers, largest first.
    pub numbers: Vec<u64>,
    /// Whether another page follows.
    pub more: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// All smaller numbers are viewed.
    all_below: u64,
    /// Chunk and number of bits set in it.
    marked: Vec<(u64, u64)>,
    version: u64,
}

#[derive(Deserialize)]
struct StateRow {
    pk: String,
    #[serde(flatten)]
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReadBitmap {
    bits: Bytes,
}

#[derive(Deserialize)]
struct ReadBitmapRow {
    #[serde(flatten)]
    key: PrimaryKey,
    #[serde(flatten)]
    marks: ReadBitmap,
}

type AllMarks = HashMap<(NotificationList, u64), ReadBitmap>;

impl NotificationReads {
    /// Uses the artist table.
    pub fn new(artists: Table) -> Self {
        Self(artists)
    }

    /// Returns, per notification, whether it is viewed; 100 at most. Two reads.
    pub async fn are_viewed(&self, notifications: &[(NotificationList, u64)]) -> Result<Vec<bool>, StoreError> {
        let states = self.states(notifications.iter().map(|(list, _)| *list)).await?;
        let of = |list: &NotificationList| states.get(list).cloned().unwrap_or_default();
        let undecided = notifications.iter().filter(|(list, number)| of(list).may_be_marked(*number));
        let marks = self.marks(undecided.map(|(list, number)| (*list, number / CHUNK))).await?;
        let is_viewed = |(list, number): &(NotificationList, u64)| {
            of(list).all_below > *number || marks.get(&(*list, number / CHUNK)).is_some_and(|marks| marks.has(*number))
        };
        Ok(notifications.iter().map(is_viewed).collect())
    }

    /// Returns viewed or unviewed numbers of a list of `length`, largest first, from `offset` on. Two reads.
    pub async fn page(
        &self,
        list: NotificationList,
        length: u64,
        viewed: bool,
        offset: u64,
        limit: usize,
    ) -> Result<NumberPage, StoreError> {
        let state = self.states([list]).await?.remove(&list).unwrap_or_default();
        let (chunks, skipped) = state.chunks(length, viewed, offset, limit + 1);
        let uncertain = chunks.iter().filter(|chunk| state.marked_in(**chunk) > 0);
        let marks = self.marks(uncertain.map(|chunk| (list, *chunk))).await?;
        let is_wanted = |number: &u64| {
            let marked = marks.get(&(list, number / CHUNK)).is_some_and(|marks| marks.has(*number));
            (state.all_below > *number || marked) == viewed
        };
        let numbers = chunks.into_iter().flat_map(|chunk| numbers(chunk, length).rev()).filter(is_wanted);
        let mut numbers: Vec<u64> =
            numbers.skip(usize::try_from(skipped).unwrap_or(usize::MAX)).take(limit + 1).collect();
        let more = numbers.len() > limit;
        numbers.truncate(limit);
        Ok(NumberPage { numbers, more })
    }

    /// Marks up to 100 lists of these lengths; returns how many were unviewed. One read and one transaction.
    pub async fn mark_all(&self, lists: &[(NotificationList, u64)]) -> Result<u64, StoreError> {
        for attempt in 0..ATTEMPTS {
            let states = self.states(lists.iter().map(|(list, _)| *list)).await?;
            let (mut writes, mut updated) = (Vec::new(), 0);
            for (list, length) in lists {
                let state = states.get(list).cloned().unwrap_or_default();
                let unviewed = state.unviewed(*length);
                if unviewed > 0 {
                    let all = State { all_below: *length, marked: Vec::new(), version: state.version };
                    writes.push(self.replacement(*list, all)?);
                    updated += unviewed;
                }
            }
            if self.write(writes, attempt).await? {
                return Ok(updated);
            }
        }
        Err(CONTENTION)
    }

    /// Marks some of a list; returns how many were unviewed. Two reads and one transaction per 50.
    pub async fn mark(&self, list: NotificationList, numbers: &BTreeSet<u64>) -> Result<u64, StoreError> {
        let mut updated = 0;
        for numbers in Vec::from_iter(numbers.iter().copied()).chunks(MAX_MARKED) {
            updated += self.mark_few(list, numbers).await?;
        }
        Ok(updated)
    }

    async fn mark_few(&self, list: NotificationList, numbers: &[u64]) -> Result<u64, StoreError> {
        for attempt in 0..ATTEMPTS {
            let mut state = self.states([list]).await?.remove(&list).unwrap_or_default();
            let mut marks = self.marks(numbers.iter().map(|number| (list, number / CHUNK))).await?;
            let (mut changed, mut updated) = (BTreeSet::new(), 0);
            for &number in numbers {
                let chunk = (list, number / CHUNK);
                if number >= state.all_below && marks.entry(chunk).or_insert_with(ReadBitmap::none).set(number) {
                    state.count(number / CHUNK);
                    changed.insert(chunk);
                    updated += 1;
                }
            }
            let mut writes = Vec::new();
            for chunk in changed {
                let item = row(&marks_key(chunk), &marks.get(&chunk))?;
                let put = Put::builder().table_name(&self.0.name).set_item(Some(item)).build()?;
                writes.push(TransactWriteItem::builder().put(put).build());
            }
            if updated > 0 {
                writes.push(self.replacement(list, state)?);
            }
            if self.write(writes, attempt).await? {
                return Ok(updated);
            }
        }
        Err(CONTENTION)
    }

    async fn write(&self, writes: Vec<TransactWriteItem>, attempt: u32) -> Result<bool, StoreError> {
        let written = writes.is_empty() || self.0.write_together(writes).await?;
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
        let keys = Vec::from_iter(by_partition.keys().map(|pk| PrimaryKey::new(pk, "STATE")));
        let mut rows: Vec<StateRow> = Vec::new();
        for keys in keys.chunks(100) {
            rows.extend(self.0.get_many::<StateRow>(keys.iter().cloned()).await?);
        }
        Ok(rows.into_iter().filter_map(|row| Some((*by_partition.get(&row.pk)?, row.state))).collect())
    }

    async fn marks(&self, chunks: impl Iterator<Item = (NotificationList, u64)>) -> Result<AllMarks, StoreError> {
        let by_key: HashMap<PrimaryKey, (NotificationList, u64)> =
            chunks.map(|chunk| (marks_key(chunk), chunk)).collect();
        let mut rows: Vec<ReadBitmapRow> = Vec::new();
        for keys in Vec::from_iter(by_key.keys()).chunks(100) {
            rows.extend(self.0.get_many::<ReadBitmapRow>(keys.iter().copied().cloned()).await?);
        }
        Ok(rows.into_iter().filter_map(|row| Some((*by_key.get(&row.key)?, row.marks))).collect())
    }

    fn replacement(&self, list: NotificationList, mut state: State) -> Result<TransactWriteItem, StoreError> {
        let before = state.version;
        state.version += 1;
        let item = row(&PrimaryKey::new(partition(list), "STATE"), &state)?;
        let put = Put::builder().table_name(&self.0.name).set_item(Some(item));
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

impl State {
    fn marked_in(&self, chunk: u64) -> u64 {
        self.marked.iter().find(|(marked, _)| *marked == chunk).map_or(0, |(_, count)| *count)
    }

    fn count(&mut self, chunk: u64) {
        match self.marked.binary_search_by_key(&chunk, |(marked, _)| *marked) {
            Ok(place) => self.marked[place].1 += 1,
            Err(place) => self.marked.insert(place, (chunk, 1)),
        }
    }

    fn may_be_marked(&self, number: u64) -> bool {
        number >= self.all_below && self.marked_in(number / CHUNK) > 0
    }

    fn counts(&self, chunk: u64, length: u64) -> (u64, u64) {
        let all = numbers(chunk, length);
        let below = self.all_below.clamp(all.start, all.end) - all.start;
        let viewed = (below + self.marked_in(chunk)).min(all.end - all.start);
        (viewed, all.end - all.start - viewed)
    }

    fn unviewed(&self, length: u64) -> u64 {
        // Earlier chunks are all viewed.
        let chunks = self.all_below.min(length) / CHUNK..length.div_ceil(CHUNK);
        chunks.map(|chunk| self.counts(chunk, length).1).sum()
    }

    /// Chunks that hold the page, last first, and how many matches to skip in the first.
    fn chunks(&self, length: u64, viewed: bool, offset: u64, limit: usize) -> (Vec<u64>, u64) {
        let (mut skipped, mut found, mut chunks) = (offset, 0, Vec::new());
        for chunk in (0..length.div_ceil(CHUNK)).rev() {
            let (yes, no) = self.counts(chunk, length);
            let count = if viewed { yes } else { no };
            if chunks.is_empty() && count <= skipped {
                skipped -= count;
            } else if count > 0 {
                chunks.push(chunk);
                found += count;
                if found - skipped >= limit as u64 {
                    break;
                }
            }
        }
        (chunks, skipped)
    }
}

impl ReadBitmap {
    fn none() -> Self {
        Self { bits: vec![0; (CHUNK / 8) as usize].into() }
    }

    fn has(&self, number: u64) -> bool {
        let (byte, bit) = place(number);
        self.bits.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    fn set(&mut self, number: u64) -> bool {
        let (byte, bit) = place(number);
        let mut bits = self.bits.to_vec();
        let is_new = bits.get_mut(byte).is_some_and(|byte| {
            let is_new = *byte & bit == 0;
            *byte |= bit;
            is_new
        });
        self.bits = bits.into();
        is_new
    }
}

fn place(number: u64) -> (usize, u8) {
    let within = number % CHUNK;
    (usize::try_from(within / 8).unwrap_or_default(), 1 << (within % 8))
}

fn numbers(chunk: u64, length: u64) -> std::ops::Range<u64> {
    let start = (chunk * CHUNK).min(length);
    start..(start + CHUNK).min(length)
}

fn partition(list: NotificationList) -> String {
    format!("VIEWED#{}#{}", list.chain, list.artist)
}

fn marks_key((list, chunk): (NotificationList, u64)) -> PrimaryKey {
    PrimaryKey::new(partition(list), format!("MARKS#{chunk:010}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(all_below: u64, marked: &[u64]) -> (State, HashMap<u64, ReadBitmap>) {
        let (mut state, mut marks) = (State { all_below, ..State::default() }, HashMap::new());
        for &number in marked {
            assert!(marks.entry(number / CHUNK).or_insert_with(ReadBitmap::none).set(number), "{number} twice");
            state.count(number / CHUNK);
        }
        (state, marks)
    }

    #[test]
    fn counts_and_pages_match_a_plain_list() {
        let marked: Vec<u64> = (9_000..20_000).step_by(7).chain([4_500, 4_501, 8_191, 8_192]).collect();
        let (state, marks) = state(4_200, &marked);
        let is_viewed = |number: u64| number < 4_200 || marks.get(&(number / CHUNK)).is_some_and(|it| it.has(number));
        for length in [0, 1, 4_096, 4_200, 4_201, 20_000, 50_000] {
            let all: Vec<u64> = (0..length).rev().collect();
            if length >= 20_000 {
                let unviewed = all.iter().filter(|number| !is_viewed(**number)).count();
                assert_eq!(state.unviewed(length), unviewed as u64, "{length}");
            }
            for viewed in [true, false] {
                let plain: Vec<u64> = all.iter().copied().filter(|number| is_viewed(*number) == viewed).collect();
                for offset in [0, 1, 19, 4_000, 9_000, 25_000] {
                    if length > 0 && length < 20_000 {
                        continue;
                    }
                    let (chunks, skipped) = state.chunks(length, viewed, offset, 21);
                    let numbers = chunks.iter().flat_map(|chunk| numbers(*chunk, length).rev());
                    let page = numbers.filter(|number| is_viewed(*number) == viewed);
                    let page: Vec<u64> = page.skip(skipped as usize).take(21).collect();
                    let expected: Vec<u64> = plain.iter().copied().skip(offset as usize).take(21).collect();
                    assert_eq!(page, expected, "{length} {viewed} {offset}");
                    assert!(chunks.len() <= 22, "{} chunks", chunks.len());
                }
            }
        }
    }

    #[test]
    fn shortened_list_below_the_mark_is_all_viewed() {
        let (state, _) = state(10_000, &[]);
        assert_eq!((state.unviewed(9_000), state.unviewed(10_000), state.unviewed(10_003)), (0, 0, 3));
        assert_eq!(state.chunks(9_000, false, 0, 21), (vec![], 0));
    }
}
