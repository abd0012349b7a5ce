//! Lists that are paged by offset. Rows are numbered without a gap as they are written, row and length in one batch,
//! so that any page is one range of keys: page 500 costs what page 1 costs.
//!
//! `sk` is a row's number in 12 digits; `sk = LENGTH` holds how many there are and sorts after all of them.

use std::{collections::HashMap, hash::Hash};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Key, StoreError, Table, Unit, text};

/// One list: a partition of a table.
pub(super) struct NumberedList<'a> {
    pub(super) table: &'a Table,
    pub(super) partition: String,
}

/// Some rows of a list.
pub(super) struct Page<R> {
    pub(super) rows: Vec<R>,
    /// Whether rows follow.
    pub(super) more: bool,
}

/// Some rows of a list, and how many it has.
pub(super) struct CountedPage<R> {
    pub(super) rows: Vec<R>,
    pub(super) total: u64,
}

#[derive(Serialize, Deserialize)]
struct LengthRow {
    length: u64,
}

/// Its length with the list that it is of.
#[derive(Deserialize)]
struct ListRow {
    pk: String,
    length: u64,
}

const LENGTH: &str = "LENGTH";
const LAST_NUMBER: u64 = 999_999_999_999;

impl Unit {
    /// Adds `fields` at the end of a list. Gives the row's number, counted from 0.
    pub(super) async fn append(&mut self, partition: &str, fields: &impl Serialize) -> Result<u64, StoreError> {
        let length_key = length_key(partition);
        let length = self.get::<LengthRow>(&length_key).await?.map_or(0, |row| row.length);
        self.insert(&row_key(partition, length), fields)?;
        self.put(&length_key, &LengthRow { length: length + 1 })?;
        Ok(length)
    }
}

impl Unit {
    /// Rows of a list from number `first` on, `limit` at most, and whether that is the end of it. One read for every
    /// hundred that aren't known.
    pub(super) async fn numbered<R: DeserializeOwned>(
        &mut self,
        partition: &str,
        first: u64,
        limit: u64,
    ) -> Result<(Vec<R>, bool), StoreError> {
        let length = self.get::<LengthRow>(&length_key(partition)).await?.map_or(0, |row| row.length);
        let last = length.min(first.saturating_add(limit));
        let keys: Vec<Key> = (first..last).map(|number| row_key(partition, number)).collect();
        self.prefetch(keys.clone()).await?;
        let mut rows = Vec::new();
        for key in &keys {
            rows.extend(self.get(key).await?);
        }
        Ok((rows, last == length))
    }
}

impl NumberedList<'_> {
    /// Rows from the `offset`th oldest on. One Query.
    pub(super) async fn oldest_first<R: DeserializeOwned>(
        &self,
        offset: u64,
        limit: usize,
    ) -> Result<Page<R>, StoreError> {
        self.range(offset, LAST_NUMBER, true, limit).await
    }

    /// Rows from the `offset`th newest on. One Query; an offset over 0 counts from the list's end, which is one more
    /// read by key.
    pub(super) async fn newest_first<R: DeserializeOwned>(
        &self,
        offset: u64,
        limit: usize,
    ) -> Result<Page<R>, StoreError> {
        let last = match offset {
            0 => Some(LAST_NUMBER),
            _ => self.length().await?.checked_sub(offset.saturating_add(1)),
        };
        match last {
            Some(last) => self.range(0, last, false, limit).await,
            None => Ok(Page { rows: Vec::new(), more: false }),
        }
    }

    /// Rows from the `offset`th newest on, with their count. One read by key and one Query.
    pub(super) async fn newest_counted<R: DeserializeOwned>(
        &self,
        offset: u64,
        limit: usize,
    ) -> Result<CountedPage<R>, StoreError> {
        let total = self.length().await?;
        let rows = match total.checked_sub(offset.saturating_add(1)) {
            Some(last) => self.range(0, last, false, limit).await?.rows,
            None => Vec::new(),
        };
        Ok(CountedPage { rows, total })
    }

    /// How many rows there are. One read.
    pub(super) async fn length(&self) -> Result<u64, StoreError> {
        let row: Option<LengthRow> = self.table.get(&length_key(&self.partition)).await?;
        Ok(row.map_or(0, |row| row.length))
    }

    async fn range<R: DeserializeOwned>(
        &self,
        first: u64,
        last: u64,
        ascending: bool,
        limit: usize,
    ) -> Result<Page<R>, StoreError> {
        if first > last {
            return Ok(Page { rows: Vec::new(), more: false });
        }
        let call = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression("pk = :list AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":list", text(&self.partition))
            .expression_attribute_values(":first", text(row_key(&self.partition, first).sk))
            .expression_attribute_values(":last", text(row_key(&self.partition, last).sk))
            .scan_index_forward(ascending);
        // One row more than asked for tells whether another page follows.
        let wanted = limit + 1;
        let mut items = Vec::new();
        let mut from = None;
        loop {
            let missing = i32::try_from(wanted - items.len()).unwrap_or(i32::MAX);
            let answer = call.clone().limit(missing).set_exclusive_start_key(from).send().await?;
            items.extend(answer.items.unwrap_or_default());
            // Only rows of more than 1 MB together come in parts.
            from = answer.last_evaluated_key.filter(|_| items.len() < wanted);
            if from.is_none() {
                break;
            }
        }
        let more = items.len() > limit;
        items.truncate(limit);
        Ok(Page { rows: serde_dynamo::from_items(items)?, more })
    }
}

impl Table {
    /// How long lists are, by what their partitions stand for; empty ones are left out. One read for every hundred.
    pub(super) async fn list_lengths<T: Copy + Eq + Hash>(
        &self,
        lists: &HashMap<String, T>,
    ) -> Result<HashMap<T, u64>, StoreError> {
        let mut lengths = HashMap::new();
        for partitions in Vec::from_iter(lists.keys()).chunks(100) {
            let rows: Vec<ListRow> = self.get_many(partitions.iter().map(|partition| length_key(partition))).await?;
            lengths.extend(rows.into_iter().filter_map(|row| Some((*lists.get(&row.pk)?, row.length))));
        }
        Ok(lengths)
    }
}

pub(super) fn length_key(partition: &str) -> Key {
    Key::new(partition, LENGTH)
}

pub(super) fn row_key(partition: &str, number: u64) -> Key {
    Key::new(partition, format!("{number:012}"))
}
