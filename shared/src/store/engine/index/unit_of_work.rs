//! Reads rows through a cache and changes them in memory. Each chain has a single writer, so the cache is never stale.

use std::{
    any::Any,
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Serialize, de::DeserializeOwned};

use super::{bulk::Bulk, usage::Usage};
use crate::{
    model::Event,
    store::engine::{
        event_segments::json,
        table::{ChainTable, Item, PrimaryKey, StoreError, Table, row},
    },
};

/// Limits of the cache between two batches.
const MAX_CACHED: usize = 30_000;
const MAX_CACHED_BYTES: usize = 16 << 20;

/// Most events of a batch, and their bytes; one step more fits, too. DynamoDB's transactions have 100 rows and 4 MB.
const MAX_EVENTS: usize = 3_000;
pub(super) const MAX_EVENT_BYTES: usize = 2 << 20;

/// Cached rows of one table and their pending changes.
pub struct UnitOfWork {
    bulk: Bulk,
    rows: HashMap<PrimaryKey, CachedRow>,
    changed: HashSet<PrimaryKey>,
    /// New rows of the batch that is being written; nothing reads them again.
    born: Vec<PrimaryKey>,
    /// Approximate bytes of the cached rows and of the changed ones.
    cached_bytes: usize,
    changed_bytes: usize,
    /// What the batch tells, as JSON, and its bytes.
    events: Vec<String>,
    event_bytes: usize,
    usage: Usage,
}

/// Size of the uncommitted changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Changed rows.
    pub rows: usize,
    /// Their approximate bytes.
    pub bytes: usize,
}

struct CachedRow {
    stored: Stored,
    current: Option<Arc<Item>>,
    /// The row's fields, where they are read or changed often.
    value: Option<Box<dyn Value>>,
    /// The fields are newer than the item.
    is_behind: bool,
}

/// Fields of a row.
trait Value: Any + Send + Sync {
    fn item(&self, key: &PrimaryKey) -> Result<Item, StoreError>;
}

impl<R: Serialize + Any + Send + Sync> Value for R {
    fn item(&self, key: &PrimaryKey) -> Result<Item, StoreError> {
        row(key, self)
    }
}

impl CachedRow {
    fn new(stored: Stored, current: Option<Arc<Item>>) -> Self {
        Self { stored, current, value: None, is_behind: false }
    }

    fn value<R: 'static>(&self) -> Option<&R> {
        let value: &dyn Any = self.value.as_deref()?;
        value.downcast_ref()
    }

    fn catch_up(&mut self, key: &PrimaryKey) -> Result<(), StoreError> {
        if let Some(value) = self.value.as_deref().filter(|_| self.is_behind) {
            self.current = Some(Arc::new(value.item(key)?));
            self.is_behind = false;
        }
        Ok(())
    }
}

enum Stored {
    Unknown,
    Known(Option<Arc<Item>>),
    /// The caller knows that there is no such row.
    New,
    /// Undoing the batch leaves the row as the batch wrote it.
    Lasting,
}

/// A changed row.
pub(super) struct Change {
    pub(super) key: PrimaryKey,
    pub(super) before: Option<Arc<Item>>,
    pub(super) after: Option<Arc<Item>>,
    /// Nothing reads the row before it is written, so writing it again needs no previous image.
    pub(super) is_new: bool,
}

impl UnitOfWork {
    /// Creates an empty unit of work.
    pub fn new(table: ChainTable) -> Self {
        Self {
            bulk: Bulk::new(table.0),
            rows: HashMap::new(),
            changed: HashSet::new(),
            born: Vec::new(),
            cached_bytes: 0,
            changed_bytes: 0,
            events: Vec::new(),
            event_bytes: 0,
            usage: Usage::default(),
        }
    }

    /// Returns the DynamoDB usage since creation, commits included.
    pub fn usage(&self) -> Usage {
        let mut usage = self.usage;
        usage += self.bulk.usage;
        usage
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Tells an event in the chain's log, once the batch is committed.
    pub fn emit(&mut self, event: &Event) -> Result<(), StoreError> {
        let event = json(event)?;
        self.event_bytes += event.len();
        self.events.push(event);
        Ok(())
    }

    /// Returns whether the batch's event limit is reached: a batch's events share one transaction.
    pub fn has_enough_events(&self) -> bool {
        self.events.len() >= MAX_EVENTS || self.event_bytes >= MAX_EVENT_BYTES
    }

    /// Returns the size of the uncommitted changes.
    pub fn weight(&self) -> Weight {
        Weight { rows: self.changed.len(), bytes: self.changed_bytes }
    }

    /// For reads that bypass the cache: they see only what is committed.
    pub(in crate::store) fn table(&self) -> &Table {
        &self.bulk.table
    }

    pub(in crate::store) async fn get<R: DeserializeOwned>(
        &mut self,
        key: &PrimaryKey,
    ) -> Result<Option<R>, StoreError> {
        if !self.rows.contains_key(key) {
            let item = self.bulk.get(key).await?;
            self.remember(key.clone(), item);
        }
        let Some(row) = self.rows.get_mut(key) else { return Ok(None) };
        row.catch_up(key)?;
        Ok(row.current.as_deref().cloned().map(serde_dynamo::from_item).transpose()?)
    }

    /// Like [`Self::get`], for a row that many events read: it is parsed once.
    pub(in crate::store) async fn get_often<R>(&mut self, key: &PrimaryKey) -> Result<Option<R>, StoreError>
    where
        R: DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
    {
        if let Some(value) = self.rows.get(key).and_then(CachedRow::value::<R>) {
            return Ok(Some(value.clone()));
        }
        let value: Option<R> = self.get(key).await?;
        self.keep(key, value.as_ref());
        Ok(value)
    }

    fn keep<R: Serialize + Clone + Send + Sync + 'static>(&mut self, key: &PrimaryKey, value: Option<&R>) {
        if let Some(row) = self.rows.get_mut(key) {
            row.value = value.map(|value| Box::new(value.clone()) as _);
        }
    }

    /// Sort keys of a partition from `first` to `last`, sorted, after the changes. One Query per megabyte.
    pub(in crate::store) async fn sort_keys(
        &mut self,
        partition: &str,
        first: String,
        last: String,
    ) -> Result<Vec<String>, StoreError> {
        let stored = self.bulk.sort_keys(partition, &first, &last).await?;
        let mut keys = BTreeSet::from_iter(stored);
        // Cached rows are newer than stored ones; those of a batch that is being written may not be stored yet.
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
        for (key, item) in self.bulk.read(unknown).await? {
            self.remember(key, item);
        }
        Ok(())
    }

    fn remember(&mut self, key: PrimaryKey, item: Option<Item>) {
        self.cached_bytes += size(&key, item.as_ref());
        let item = item.map(Arc::new);
        self.rows.insert(key, CachedRow::new(Stored::Known(item.clone()), item));
    }

    pub(in crate::store) fn put(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Unknown);
        Ok(())
    }

    /// Like [`Self::put`], for a row that many events change: it becomes an item once a batch. Its size is that of the first
    /// change.
    pub(in crate::store) fn put_often<R>(&mut self, key: &PrimaryKey, fields: &R) -> Result<(), StoreError>
    where
        R: Serialize + Clone + Send + Sync + 'static,
    {
        match self.rows.get_mut(key) {
            Some(row) if row.current.is_some() && self.changed.contains(key) => row.is_behind = true,
            _ => self.put(key, fields)?,
        }
        self.keep(key, Some(fields));
        Ok(())
    }

    /// Spares the read of the previous image. The caller knows that there is no such row, and nothing reads the row
    /// before it is written. If a final batch is applied again after a crash, the row must come again.
    pub(in crate::store) fn insert(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::New);
        Ok(())
    }

    /// Like [`Self::insert`], and undoing its batch deletes it: for a row that may not come again.
    pub(in crate::store) fn add(&mut self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let item = row(key, fields)?;
        self.change(key, Some(item), Stored::Known(None));
        Ok(())
    }

    /// Like [`Self::put`], and undoing the batch leaves the row, or puts it back: for work that no block causes.
    pub(in crate::store) fn put_lasting(
        &mut self,
        key: &PrimaryKey,
        fields: &impl Serialize,
    ) -> Result<(), StoreError> {
        self.put(key, fields)?;
        if let Some(row) = self.rows.get_mut(key) {
            row.stored = Stored::Lasting;
        }
        Ok(())
    }

    pub(in crate::store) fn delete(&mut self, key: &PrimaryKey) {
        self.change(key, None, Stored::Unknown);
    }

    fn change(&mut self, key: &PrimaryKey, current: Option<Item>, stored: Stored) {
        let bytes = size(key, current.as_ref());
        let current = current.map(Arc::new);
        let was_changed = !self.changed.insert(key.clone());
        match self.rows.get_mut(key) {
            Some(row) => {
                let before = size(key, row.current.as_deref());
                self.cached_bytes = (self.cached_bytes + bytes).saturating_sub(before);
                if was_changed {
                    self.changed_bytes = self.changed_bytes.saturating_sub(before);
                }
                (row.current, row.value, row.is_behind) = (current, None, false);
            }
            None => {
                self.cached_bytes += bytes;
                self.rows.insert(key.clone(), CachedRow::new(stored, current));
            }
        }
        self.changed_bytes += bytes;
    }

    /// Returns whether there are uncommitted changes.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.events.is_empty()
    }

    /// Drops all changes and the cache.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.changed.clear();
        self.born.clear();
        self.events.clear();
        (self.cached_bytes, self.changed_bytes, self.event_bytes) = (0, 0, 0);
    }

    pub(super) fn take_events(&mut self) -> Vec<String> {
        self.event_bytes = 0;
        std::mem::take(&mut self.events)
    }

    /// Takes the changes, with the rows before. The cache counts them as stored: clear it if their write fails.
    pub(super) async fn take_changes(&mut self) -> Result<Vec<Change>, StoreError> {
        let is_unknown =
            |key: &&PrimaryKey| self.rows.get(*key).is_some_and(|row| matches!(row.stored, Stored::Unknown));
        let unknown: HashSet<PrimaryKey> = self.changed.iter().filter(is_unknown).cloned().collect();
        for (key, item) in self.bulk.read(unknown).await? {
            if let Some(row) = self.rows.get_mut(&key) {
                row.stored = Stored::Known(item.map(Arc::new));
            }
        }
        let mut keys: Vec<PrimaryKey> = self.changed.drain().collect();
        keys.sort_unstable_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
        let mut changes = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(row) = self.rows.get_mut(&key) else { continue };
            row.catch_up(&key)?;
            let stored = std::mem::replace(&mut row.stored, Stored::Known(row.current.clone()));
            let (before, is_new, is_lasting) = match stored {
                Stored::Known(before) => (before, false, false),
                Stored::New => (None, true, false),
                Stored::Lasting => (row.current.clone(), false, true),
                Stored::Unknown => continue,
            };
            if is_new {
                self.born.push(key.clone());
            }
            // A new row may have been written before a crash: that it isn't wanted any more must be written, too.
            if is_new || is_lasting || before != row.current {
                changes.push(Change { key, before, after: row.current.clone(), is_new });
            }
        }
        self.changed_bytes = 0;
        Ok(changes)
    }

    /// Drops the new rows of the batch that was written: what follows hardly reads them.
    pub(super) fn forget_born(&mut self) {
        for key in std::mem::take(&mut self.born) {
            if !self.changed.contains(&key)
                && let Some(row) = self.rows.remove(&key)
            {
                self.cached_bytes = self.cached_bytes.saturating_sub(size(&key, row.current.as_deref()));
            }
        }
    }

    /// Returns whether the cache is over its limits.
    pub fn is_full(&self) -> bool {
        self.rows.len() > MAX_CACHED || self.cached_bytes > MAX_CACHED_BYTES
    }

    /// Empties a cache over its limits. Only while there are no changes and no write is under way.
    pub fn trim(&mut self) {
        if self.is_full() {
            self.clear();
        }
    }
}

impl Change {
    /// Approximate bytes of the key and both images.
    pub(super) fn bytes(&self) -> usize {
        size(&self.key, self.before.as_deref()) + self.after.as_deref().map_or(0, item_size)
    }
}

fn size(key: &PrimaryKey, item: Option<&Item>) -> usize {
    key.pk.len() + key.sk.len() + item.map_or(0, item_size)
}

fn item_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::L(values) => 3 + values.iter().map(|value| 1 + value_size(value)).sum::<usize>(),
        AttributeValue::M(fields) => {
            3 + fields.iter().map(|(name, value)| 1 + name.len() + value_size(value)).sum::<usize>()
        }
        AttributeValue::B(blob) => blob.as_ref().len(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Length {
        length: u64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Other {
        length: u64,
    }

    #[tokio::test]
    async fn rows_changed_often_are_read_and_written_as_they_were_last() {
        let aws = aws_config::SdkConfig::builder().behavior_version(aws_config::BehaviorVersion::latest()).build();
        let mut unit = UnitOfWork::new(ChainTable::new(&aws, "rows"));
        let (key, is) = (PrimaryKey::new("list", "LENGTH"), |length| Length { length });
        unit.add(&key, &is(0)).unwrap();
        for length in 1..4 {
            unit.put_often(&key, &is(length)).unwrap();
            assert_eq!(unit.get_often(&key).await.unwrap(), Some(is(length)));
        }
        assert_eq!(unit.get(&key).await.unwrap(), Some(Other { length: 3 }));
        unit.put_often(&key, &is(4)).unwrap();
        let [Change { before: None, after: Some(after), .. }] = &unit.take_changes().await.unwrap()[..] else {
            panic!("one new row")
        };
        assert_eq!(serde_dynamo::from_item::<_, Length>(Item::clone(after)).unwrap(), is(4));

        unit.put_often(&key, &is(5)).unwrap();
        unit.put(&key, &is(6)).unwrap();
        assert_eq!(unit.get_often(&key).await.unwrap(), Some(is(6)));
        unit.put_often(&key, &is(7)).unwrap();
        unit.delete(&key);
        assert_eq!(unit.get_often::<Length>(&key).await.unwrap(), None);
        assert!(matches!(&unit.take_changes().await.unwrap()[..], [Change { before: Some(_), after: None, .. }]));
    }

    #[tokio::test]
    async fn lasting_row_is_its_own_previous_image_and_later_changes_are_undone() {
        let aws = aws_config::SdkConfig::builder().behavior_version(aws_config::BehaviorVersion::latest()).build();
        let mut unit = UnitOfWork::new(ChainTable::new(&aws, "rows"));
        let (key, is) = (PrimaryKey::new("changes", "1"), |length| Length { length });
        unit.put_lasting(&key, &is(0)).unwrap();
        let changes = unit.take_changes().await.unwrap();
        let [Change { before: Some(before), after: Some(after), .. }] = &changes[..] else { panic!("one row") };
        assert_eq!(before, after);
        unit.delete(&key);
        assert!(matches!(&unit.take_changes().await.unwrap()[..], [Change { before: Some(_), after: None, .. }]));
    }
}
