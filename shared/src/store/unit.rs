//! The unit of work of the chain's index: rows are read through a cache and changed in memory; [`Journal`] writes all
//! changes of a batch of blocks together, with what the rows were before.
//!
//! One writer for each chain: what the cache holds is what the table holds.

mod journal;
mod progress;

use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Serialize, de::DeserializeOwned};

pub use self::{
    journal::{CommitError, Journal},
    progress::{BlockId, Progress},
};
use super::{Item, Key, StoreError, Table, backoff, row};

/// Most rows in one BatchGetItem, and in one BatchWriteItem; DynamoDB's own limits.
const MAX_READ: usize = 100;
const MAX_WRITE: usize = 25;

/// How many batches are under way at the same time.
const PARALLEL: usize = 8;

/// How many rows the cache may hold between two batches.
const MAX_CACHED: usize = 50_000;

/// Rows of one table as its one writer sees and changes them.
pub struct Unit {
    table: Table,
    rows: HashMap<Key, CachedRow>,
    changed: HashSet<Key>,
    usage: Usage,
}

/// How often DynamoDB was called, and for how many rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Calls that read.
    pub reads: u64,
    /// Calls that write.
    pub writes: u64,
    /// Rows written or deleted.
    pub rows_written: u64,
}

/// A row that was read or changed.
struct CachedRow {
    /// What the table holds.
    stored: Stored,
    /// What it shall hold.
    current: Option<Item>,
}

/// What the table holds, as far as it is known.
enum Stored {
    Unknown,
    Known(Option<Item>),
}

/// A change of one row.
struct Change {
    key: Key,
    before: Option<Item>,
    after: Option<Item>,
}

impl Unit {
    /// An empty unit over the table.
    pub fn new(table: Table) -> Self {
        Self { table, rows: HashMap::new(), changed: HashSet::new(), usage: Usage::default() }
    }

    /// What DynamoDB was asked for since the unit was made.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The table itself, as it was last committed.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// A row as it will be once everything is committed. One read, unless it is known.
    pub(super) async fn get<R: DeserializeOwned>(&mut self, key: &Key) -> Result<Option<R>, StoreError> {
        if !self.rows.contains_key(key) {
            let call = self.table.client.get_item().table_name(&self.table.name).set_key(Some(key.item()));
            let item = call.consistent_read(true).send().await?.item;
            self.usage.reads += 1;
            self.rows.insert(key.clone(), CachedRow::read(item));
        }
        let item = self.rows.get(key).and_then(|row| row.current.clone());
        Ok(item.map(serde_dynamo::from_item).transpose()?)
    }

    /// Reads rows that will be asked for. One read for every hundred that aren't known.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn prefetch(&mut self, keys: impl IntoIterator<Item = Key>) -> Result<(), StoreError> {
        let unknown: HashSet<Key> = keys.into_iter().filter(|key| !self.rows.contains_key(key)).collect();
        for (key, item) in self.read(unknown).await? {
            self.rows.insert(key, CachedRow::read(item));
        }
        Ok(())
    }

    /// Puts a row in place of whatever is there.
    pub(super) fn put(&mut self, key: &Key, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Unknown);
        Ok(())
    }

    /// Puts a row where there is none, as the caller knows: spares the read of what is there.
    pub(super) fn insert(&mut self, key: &Key, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Known(None));
        Ok(())
    }

    /// Removes a row, if it is there.
    pub(super) fn delete(&mut self, key: &Key) {
        self.change(key, None, Stored::Unknown);
    }

    fn change(&mut self, key: &Key, current: Option<Item>, stored: Stored) {
        match self.rows.get_mut(key) {
            Some(row) => row.current = current,
            None => {
                self.rows.insert(key.clone(), CachedRow { stored, current });
            }
        }
        self.changed.insert(key.clone());
    }

    /// Whether anything was changed since the last commit.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Forgets every change and every row.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.changed.clear();
    }

    /// What is to be written, in the order of the keys; reads what the rows were where that isn't known.
    async fn changes(&mut self) -> Result<Vec<Change>, StoreError> {
        let is_unknown = |key: &&Key| self.rows.get(*key).is_some_and(|row| matches!(row.stored, Stored::Unknown));
        let unknown: HashSet<Key> = self.changed.iter().filter(is_unknown).cloned().collect();
        for (key, item) in self.read(unknown).await? {
            if let Some(row) = self.rows.get_mut(&key) {
                row.stored = Stored::Known(item);
            }
        }
        let mut keys: Vec<&Key> = self.changed.iter().collect();
        keys.sort_unstable_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
        let change = |key: &Key| {
            let CachedRow { stored: Stored::Known(before), current } = self.rows.get(key)? else { return None };
            (before != current).then(|| Change { key: key.clone(), before: before.clone(), after: current.clone() })
        };
        Ok(keys.into_iter().filter_map(change).collect())
    }

    /// What was changed is what the table holds from now on.
    fn settle(&mut self) {
        if self.rows.len() > MAX_CACHED {
            self.clear();
            return;
        }
        for key in self.changed.drain() {
            if let Some(row) = self.rows.get_mut(&key) {
                row.stored = Stored::Known(row.current.clone());
            }
        }
    }

    /// Reads rows past the cache; missing ones are `None`.
    async fn read(&mut self, keys: HashSet<Key>) -> Result<Vec<(Key, Option<Item>)>, StoreError> {
        let keys = Vec::from_iter(keys);
        let table = &self.table;
        let calls = stream::iter(keys.chunks(MAX_READ)).map(|keys| async move { table.read_rows(keys).await });
        let found: Vec<_> = calls.buffer_unordered(PARALLEL).try_collect().await?;
        self.usage.reads += found.iter().map(|(_, calls)| calls).sum::<u64>();
        let keyed = |row: Item| Ok::<(Key, Item), StoreError>((serde_dynamo::from_item(row.clone())?, row));
        let mut found: HashMap<_, _> =
            found.into_iter().flat_map(|(rows, _)| rows).map(keyed).collect::<Result<_, _>>()?;
        Ok(keys
            .into_iter()
            .map(|key| {
                let item = found.remove(&key);
                (key, item)
            })
            .collect())
    }

    /// Writes rows past the cache, in any order: `None` deletes. Not all at once: a crash leaves some of them unwritten.
    async fn write(&mut self, rows: Vec<(Key, Option<Item>)>) -> Result<(), StoreError> {
        self.usage.rows_written += rows.len() as u64;
        let requests = rows.into_iter().map(write_request).collect::<Result<Vec<_>, _>>()?;
        let chunks: Vec<Vec<WriteRequest>> = requests.chunks(MAX_WRITE).map(<[_]>::to_vec).collect();
        let table = &self.table;
        let calls = stream::iter(chunks).map(|chunk| async move { table.write_rows(chunk).await });
        let calls: Vec<u64> = calls.buffer_unordered(PARALLEL).try_collect().await?;
        self.usage.writes += calls.iter().sum::<u64>();
        Ok(())
    }
}

impl CachedRow {
    fn read(item: Option<Item>) -> Self {
        Self { stored: Stored::Known(item.clone()), current: item }
    }
}

impl Table {
    /// Writes up to 25 rows, with whatever DynamoDB left undone written again. Gives how many calls it took.
    async fn write_rows(&self, mut pending: Vec<WriteRequest>) -> Result<u64, StoreError> {
        const ATTEMPTS: u32 = 12;
        for attempt in 0..ATTEMPTS {
            let call = self.client.batch_write_item().request_items(&self.name, pending);
            let mut left = call.send().await?.unprocessed_items.unwrap_or_default();
            match left.remove(&self.name) {
                Some(rows) if !rows.is_empty() => pending = rows,
                _ => return Ok((attempt + 1).into()),
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("a batch's rows"))
    }
}

fn write_request((key, item): (Key, Option<Item>)) -> Result<WriteRequest, StoreError> {
    let request = WriteRequest::builder();
    Ok(match item {
        Some(item) => request.put_request(PutRequest::builder().set_item(Some(item)).build()?).build(),
        None => request.delete_request(DeleteRequest::builder().set_key(Some(key.item())).build()?).build(),
    })
}
