//! Reads rows through a cache and changes them in memory. Each chain has a single writer, so the cache is never stale.

use std::collections::{BTreeSet, HashMap, HashSet};

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::store::table::{Item, PrimaryKey, StoreError, Table, backoff, row, text};

/// DynamoDB's limits for BatchGetItem and BatchWriteItem.
const MAX_READ: usize = 100;
const MAX_WRITE: usize = 25;

const PARALLEL: usize = 8;

const MAX_CACHED: usize = 50_000;

/// Cached rows of one table and their pending changes.
pub struct UnitOfWork {
    table: Table,
    rows: HashMap<PrimaryKey, CachedRow>,
    changed: HashSet<PrimaryKey>,
    pub(super) usage: Usage,
}

/// DynamoDB usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
    /// Rows written or deleted.
    pub rows_written: u64,
}

struct CachedRow {
    stored: Stored,
    current: Option<Item>,
}

#[derive(Deserialize)]
struct SortKey {
    sk: String,
}

enum Stored {
    Unknown,
    Known(Option<Item>),
}

pub(super) struct Change {
    pub(super) key: PrimaryKey,
    pub(super) before: Option<Item>,
    pub(super) after: Option<Item>,
}

impl UnitOfWork {
    /// Creates an empty unit of work.
    pub fn new(table: Table) -> Self {
        Self { table, rows: HashMap::new(), changed: HashSet::new(), usage: Usage::default() }
    }

    /// Returns the DynamoDB usage since creation.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// For reads that bypass the cache: they see only what is committed.
    pub(in crate::store) fn table(&self) -> &Table {
        &self.table
    }

    pub(in crate::store) async fn get<R: DeserializeOwned>(
        &mut self,
        key: &PrimaryKey,
    ) -> Result<Option<R>, StoreError> {
        if !self.rows.contains_key(key) {
            let call = self.table.client.get_item().table_name(&self.table.name).set_key(Some(key.item()));
            let item = call.consistent_read(true).send().await?.item;
            self.usage.reads += 1;
            self.rows.insert(key.clone(), CachedRow::read(item));
        }
        let item = self.rows.get(key).and_then(|row| row.current.clone());
        Ok(item.map(serde_dynamo::from_item).transpose()?)
    }

    /// Returns the sort keys of a partition from `first` to `last`, sorted, as they are after the changes. One Query per
    /// 1 MB.
    pub(in crate::store) async fn sort_keys(
        &mut self,
        partition: &str,
        first: String,
        last: String,
    ) -> Result<Vec<String>, StoreError> {
        let call = self.table.query().key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call.expression_attribute_values(":pk", text(partition)).projection_expression("sk");
        let call = call.expression_attribute_values(":first", text(&first));
        let call = call.expression_attribute_values(":last", text(&last));
        let items = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        self.usage.reads += 1;
        let stored: Vec<SortKey> = serde_dynamo::from_items(items)?;
        let mut keys: BTreeSet<String> = stored.into_iter().map(|row| row.sk).collect();
        // Cached rows are newer than stored ones.
        let cached = self.rows.iter().filter(|(key, _)| key.pk == partition && (&first..=&last).contains(&&key.sk));
        for (key, row) in cached {
            match row.current {
                Some(_) => keys.insert(key.sk.clone()),
                None => keys.remove(&key.sk),
            };
        }
        Ok(keys.into_iter().collect())
    }

    /// Loads rows into the cache. One read per 100 rows that aren't cached.
    pub async fn prefetch(&mut self, keys: impl IntoIterator<Item = PrimaryKey>) -> Result<(), StoreError> {
        let unknown: HashSet<PrimaryKey> = keys.into_iter().filter(|key| !self.rows.contains_key(key)).collect();
        for (key, item) in self.read(unknown).await? {
            self.rows.insert(key, CachedRow::read(item));
        }
        Ok(())
    }

    pub(in crate::store) fn put(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Unknown);
        Ok(())
    }

    /// Spares the read of the previous image: the caller knows that there is no such row.
    pub(in crate::store) fn insert(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Known(None));
        Ok(())
    }

    /// Like [`Self::insert`] for a row that is found by [`Self::sort_keys`] too: undoing its batch must delete it.
    pub(in crate::store) fn add(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Known(None));
        Ok(())
    }

    pub(in crate::store) fn delete(&mut self, key: &PrimaryKey) {
        self.change(key, None, Stored::Unknown);
    }

    fn change(&mut self, key: &PrimaryKey, current: Option<Item>, stored: Stored) {
        match self.rows.get_mut(key) {
            Some(row) => row.current = current,
            None => {
                self.rows.insert(key.clone(), CachedRow { stored, current });
            }
        }
        self.changed.insert(key.clone());
    }

    /// Returns whether there are uncommitted changes.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Drops all changes and the cache.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.changed.clear();
    }

    pub(super) async fn changes(&mut self) -> Result<Vec<Change>, StoreError> {
        let is_unknown =
            |key: &&PrimaryKey| self.rows.get(*key).is_some_and(|row| matches!(row.stored, Stored::Unknown));
        let unknown: HashSet<PrimaryKey> = self.changed.iter().filter(is_unknown).cloned().collect();
        for (key, item) in self.read(unknown).await? {
            if let Some(row) = self.rows.get_mut(&key) {
                row.stored = Stored::Known(item);
            }
        }
        let mut keys: Vec<&PrimaryKey> = self.changed.iter().collect();
        keys.sort_unstable_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
        let change = |key: &PrimaryKey| {
            let CachedRow { stored: Stored::Known(before), current } = self.rows.get(key)? else { return None };
            (before != current).then(|| Change { key: key.clone(), before: before.clone(), after: current.clone() })
        };
        Ok(keys.into_iter().filter_map(change).collect())
    }

    pub(super) fn settle(&mut self) {
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

    pub(super) async fn read(
        &mut self,
        keys: HashSet<PrimaryKey>,
    ) -> Result<Vec<(PrimaryKey, Option<Item>)>, StoreError> {
        let keys = Vec::from_iter(keys);
        let table = &self.table;
        let calls = stream::iter(keys.chunks(MAX_READ)).map(|keys| async move { table.read_rows(keys).await });
        let found: Vec<_> = calls.buffer_unordered(PARALLEL).try_collect().await?;
        self.usage.reads += found.iter().map(|(_, calls)| calls).sum::<u64>();
        let keyed = |row: Item| Ok::<(PrimaryKey, Item), StoreError>((serde_dynamo::from_item(row.clone())?, row));
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

    /// Not atomic.
    pub(super) async fn write(&mut self, rows: Vec<(PrimaryKey, Option<Item>)>) -> Result<(), StoreError> {
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
    /// Returns the number of calls.
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

fn write_request((key, item): (PrimaryKey, Option<Item>)) -> Result<WriteRequest, StoreError> {
    let request = WriteRequest::builder();
    Ok(match item {
        Some(item) => request.put_request(PutRequest::builder().set_item(Some(item)).build()?).build(),
        None => request.delete_request(DeleteRequest::builder().set_key(Some(key.item())).build()?).build(),
    })
}
