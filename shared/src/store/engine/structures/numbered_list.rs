//! Lists paged by offset: rows are numbered densely, so that a page is one range of keys. `LENGTH` sorts after all.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::aws::Dispatch;
use crate::store::engine::{
    index::UnitOfWork,
    rows,
    table::{PrimaryKey, StoreError, Table, text},
};

pub(in crate::store) struct NumberedList<'a> {
    pub(in crate::store) table: &'a Table,
    pub(in crate::store) partition: String,
}

pub(in crate::store) struct Page<R> {
    pub(in crate::store) rows: Vec<R>,
    pub(in crate::store) more: bool,
    /// Number of the first row.
    first: Option<u64>,
}

pub(in crate::store) struct CountedPage<R> {
    pub(in crate::store) rows: Vec<R>,
    pub(in crate::store) total: u64,
    /// Number of rows from the page's first one to the list's oldest.
    pub(in crate::store) end: u64,
}

/// Where a page begins.
#[derive(Clone, Copy)]
pub(in crate::store) enum ListStart {
    /// After so many of the newest rows.
    Offset(u64),
    /// Among so many of the oldest.
    End(u64),
}

impl ListStart {
    /// The number of the oldest rows among which it begins in a list of this length.
    pub(super) fn end(self, total: u64) -> u64 {
        match self {
            Self::Offset(offset) => total.saturating_sub(offset),
            Self::End(end) => end.min(total),
        }
    }
}

impl<R> CountedPage<R> {
    /// Of an empty list.
    pub(in crate::store) fn empty() -> Self {
        Self { rows: Vec::new(), total: 0, end: 0 }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct LengthRow {
    length: u64,
}

const LAST_NUMBER: u64 = 999_999_999_999;

impl UnitOfWork {
    /// Appends a row; returns its number, from 0.
    pub(in crate::store) async fn append(
        &mut self,
        partition: &str,
        fields: &impl Serialize,
    ) -> Result<u64, StoreError> {
        let length_key = length_key(partition);
        let length = self.get_often::<LengthRow>(&length_key).await?.map_or(0, |row| row.length);
        self.insert(&row_key(partition, length), fields)?;
        self.put_often(&length_key, &LengthRow { length: length + 1 })?;
        Ok(length)
    }
}

impl UnitOfWork {
    /// Also returns whether the list ends there. One read per 100 uncached rows.
    pub(in crate::store) async fn numbered<R: DeserializeOwned>(
        &mut self,
        partition: &str,
        first: u64,
        limit: u64,
    ) -> Result<(Vec<R>, bool), StoreError> {
        let length = self.get::<LengthRow>(&length_key(partition)).await?.map_or(0, |row| row.length);
        let last = length.min(first.saturating_add(limit));
        let keys: Vec<PrimaryKey> = (first..last).map(|number| row_key(partition, number)).collect();
        self.prefetch(keys.clone()).await?;
        let mut rows = Vec::new();
        for key in &keys {
            rows.extend(self.get(key).await?);
        }
        Ok((rows, last == length))
    }
}

impl NumberedList<'_> {
    pub(in crate::store) async fn oldest_first<R: DeserializeOwned>(
        &self,
        offset: u64,
        limit: usize,
    ) -> Result<Page<R>, StoreError> {
        self.range(offset, LAST_NUMBER, true, limit).await
    }

    /// One Query; with an offset, one more read.
    pub(in crate::store) async fn newest_first<R: DeserializeOwned>(
        &self,
        offset: u64,
        limit: usize,
    ) -> Result<Page<R>, StoreError> {
        let end = match offset {
            0 => LAST_NUMBER + 1,
            _ => ListStart::Offset(offset).end(self.length().await?),
        };
        self.before(end, limit).await
    }

    /// One read and one Query; in parallel without an offset.
    pub(in crate::store) async fn counted<R: DeserializeOwned>(
        &self,
        start: ListStart,
        limit: usize,
    ) -> Result<CountedPage<R>, StoreError> {
        let (length, page) = match start {
            ListStart::Offset(0) => tokio::try_join!(self.length(), self.before(LAST_NUMBER + 1, limit))?,
            ListStart::End(end) => tokio::try_join!(self.length(), self.before(end, limit))?,
            ListStart::Offset(_) => {
                let length = self.length().await?;
                (length, self.before(start.end(length), limit).await?)
            }
        };
        // The rows may be newer than the length, or older.
        let end = page.first.map_or(0, |first| first + 1);
        Ok(CountedPage { rows: page.rows, total: length.max(end), end })
    }

    /// Rows among the oldest `end`, newest first.
    async fn before<R: DeserializeOwned>(&self, end: u64, limit: usize) -> Result<Page<R>, StoreError> {
        match end.checked_sub(1) {
            Some(last) => self.range(0, last, false, limit).await,
            None => Ok(Page { rows: Vec::new(), more: false, first: None }),
        }
    }

    pub(in crate::store) async fn length(&self) -> Result<u64, StoreError> {
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
            return Ok(Page { rows: Vec::new(), more: false, first: None });
        }
        let call = self
            .table
            .query()
            .key_condition_expression("pk = :list AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":list", text(&self.partition))
            .expression_attribute_values(":first", text(row_key(&self.partition, first).sk))
            .expression_attribute_values(":last", text(row_key(&self.partition, last).sk))
            .scan_index_forward(ascending);
        // One extra row tells whether another page follows.
        let wanted = limit + 1;
        let mut items = Vec::new();
        let mut from = None;
        loop {
            let missing = i32::try_from(wanted - items.len()).unwrap_or(i32::MAX);
            let answer = call.clone().limit(missing).set_exclusive_start_key(from).dispatch().await?;
            items.extend(answer.items.unwrap_or_default());
            // Only pages over 1 MB come in parts.
            from = answer.last_evaluated_key.filter(|_| items.len() < wanted);
            if from.is_none() {
                break;
            }
        }
        let more = items.len() > limit;
        items.truncate(limit);
        let first: Option<PrimaryKey> = items.first().cloned().map(serde_dynamo::from_item).transpose()?;
        let first = first.and_then(|key| key.sk.parse().ok());
        Ok(Page { rows: serde_dynamo::from_items(items)?, more, first })
    }
}

pub(in crate::store) fn length_key(partition: &str) -> PrimaryKey {
    rows::list_length(partition)
}

pub(in crate::store) fn row_key(partition: &str, number: u64) -> PrimaryKey {
    rows::list_row(partition, number)
}
