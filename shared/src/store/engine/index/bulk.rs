//! Reads and writes of many rows under pressure: where DynamoDB throttles, calls get fewer and slower; they don't fail.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, TransactWriteItem, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use super::usage::Usage;
use crate::aws::Dispatch;
use crate::store::engine::table::{
    Item, MAX_READ, MAX_WRITE, PrimaryKey, StoreError, Table, WriteReason, backoff, text,
};

const PARALLEL: usize = 16;

/// A row to put, or the key of one to delete.
pub(in crate::store) type Write = (PrimaryKey, Option<Arc<Item>>);

/// Calls of one table that wait while DynamoDB throttles.
pub(in crate::store) struct Bulk {
    pub(super) table: Table,
    pub(super) usage: Usage,
    /// Concurrent writes: halved when DynamoDB throttles, and one more after each success.
    width: usize,
    patience: Duration,
}

#[derive(Deserialize)]
struct SortKey {
    sk: String,
}

impl Bulk {
    const PATIENCE: Duration = Duration::from_secs(40);

    /// Longest wait in all: within the lease of a pending batch.
    const LIMIT: Duration = Duration::from_secs(60);

    pub(in crate::store) fn new(table: Table) -> Self {
        Self { table, usage: Usage::default(), width: PARALLEL, patience: Self::PATIENCE }
    }

    pub(super) fn take_usage(&mut self) -> Usage {
        std::mem::take(&mut self.usage)
    }

    pub(super) async fn get(&mut self, key: &PrimaryKey) -> Result<Option<Item>, StoreError> {
        let mut wait = Wait::of(self.patience);
        loop {
            self.usage.reads += 1;
            let call = self.table.client.get_item().table_name(&self.table.name).set_key(Some(key.item()));
            match call.consistent_read(true).dispatch().await.map_err(StoreError::from) {
                Ok(answer) => return Ok(answer.item),
                Err(error) if error.is_throttled() => wait.once(false).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// One call per 100 keys.
    pub(super) async fn read(
        &mut self,
        keys: HashSet<PrimaryKey>,
    ) -> Result<Vec<(PrimaryKey, Option<Item>)>, StoreError> {
        let keys = Vec::from_iter(keys);
        let mut wait = Wait::of(self.patience);
        let mut found: HashMap<PrimaryKey, Item> = HashMap::new();
        let mut pending: Vec<&[PrimaryKey]> = keys.chunks(MAX_READ).collect();
        while !pending.is_empty() {
            let table = &self.table;
            let read = |keys| async move {
                match table.read_rows(keys).await {
                    Err(error) if error.is_throttled() => Ok((keys, None)),
                    other => other.map(|rows| (keys, Some(rows))),
                }
            };
            let calls = stream::iter(std::mem::take(&mut pending).into_iter().map(read));
            let answers: Vec<_> = calls.buffer_unordered(PARALLEL).try_collect::<Vec<_>>().await?;
            let mut progressed = false;
            for (keys, answer) in answers {
                let Some((rows, calls)) = answer else {
                    pending.push(keys);
                    continue;
                };
                progressed = true;
                self.usage.reads += calls;
                for row in rows {
                    found.insert(serde_dynamo::from_item(row.clone())?, row);
                }
            }
            if !pending.is_empty() {
                wait.once(progressed).await?;
            }
        }
        Ok(keys
            .into_iter()
            .map(|key| {
                let item = found.remove(&key);
                (key, item)
            })
            .collect())
    }

    /// Sort keys of a partition, both ends included. One Query per 1 MB.
    pub(super) async fn sort_keys(
        &mut self,
        partition: &str,
        first: &str,
        last: &str,
    ) -> Result<Vec<String>, StoreError> {
        let call = self.table.query().key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call.expression_attribute_values(":pk", text(partition)).projection_expression("sk");
        let call = call.expression_attribute_values(":first", text(first));
        let call = call.expression_attribute_values(":last", text(last));
        let mut wait = Wait::of(self.patience);
        loop {
            self.usage.reads += 1;
            let items = call.clone().into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
            match items.map_err(StoreError::from) {
                Ok(items) => {
                    let rows: Vec<SortKey> = serde_dynamo::from_items(items)?;
                    return Ok(rows.into_iter().map(|row| row.sk).collect());
                }
                Err(error) if error.is_throttled() => wait.once(false).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Not atomic. Unprocessed and throttled rows are written again, more slowly.
    pub(in crate::store) async fn write(&mut self, rows: Vec<Write>) -> Result<(), StoreError> {
        self.usage.rows_written += rows.len() as u64;
        let mut pending = rows;
        let mut wait = Wait::of(self.patience);
        while !pending.is_empty() {
            let before = pending.len();
            self.usage.writes += before.div_ceil(MAX_WRITE) as u64;
            pending = self.write_once(pending).await?;
            if pending.is_empty() {
                self.width = (self.width + 1).min(PARALLEL);
            } else {
                self.width = (self.width / 2).max(1);
                wait.once(pending.len() < before).await?;
            }
        }
        Ok(())
    }

    /// Returns the rows that were not taken. Calls that haven't begun when DynamoDB throttles aren't made.
    async fn write_once(&self, mut rows: Vec<Write>) -> Result<Vec<Write>, StoreError> {
        let is_throttled = AtomicBool::new(false);
        let write = |rows: Vec<Write>| {
            let (table, is_throttled) = (&self.table, &is_throttled);
            async move {
                if is_throttled.load(Ordering::Relaxed) {
                    return Ok(rows);
                }
                let left = table.write_rows(rows).await?;
                is_throttled.fetch_or(!left.is_empty(), Ordering::Relaxed);
                Ok::<_, StoreError>(left)
            }
        };
        let mut chunks = Vec::new();
        while !rows.is_empty() {
            chunks.push(rows.split_off(rows.len().saturating_sub(MAX_WRITE)));
        }
        let calls = stream::iter(chunks.into_iter().map(write)).buffer_unordered(self.width);
        // All calls are awaited even if one fails: one that is dropped could still take effect after the undo.
        let answers: Vec<Result<_, StoreError>> = calls.collect().await;
        Ok(answers.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Writes all items or none; `false` if a condition failed.
    pub(super) async fn write_together(&mut self, items: Vec<TransactWriteItem>) -> Result<bool, StoreError> {
        let mut wait = Wait::of(self.patience);
        self.usage.rows_written += items.len() as u64;
        loop {
            self.usage.writes += 1;
            match self.table.write_or_reasons(items.clone()).await {
                Ok(Ok(())) => return Ok(true),
                Ok(Err(reasons)) if reasons.iter().copied().any(WriteReason::is_condition) => return Ok(false),
                Ok(Err(_)) => {}
                Err(error) if error.is_throttled() => {}
                Err(error) => return Err(error),
            }
            wait.once(false).await?;
        }
    }
}

/// Growing pauses, until nothing has moved for too long.
struct Wait {
    patience: Duration,
    start: Instant,
    since: Instant,
    attempt: u32,
}

impl Wait {
    fn of(patience: Duration) -> Self {
        Self { patience, start: Instant::now(), since: Instant::now(), attempt: 0 }
    }

    async fn once(&mut self, progressed: bool) -> Result<(), StoreError> {
        if self.start.elapsed() > Bulk::LIMIT {
            return Err(StoreError::Contention("DynamoDB's capacity"));
        }
        if progressed {
            (self.since, self.attempt) = (Instant::now(), 0);
        } else if self.since.elapsed() > self.patience {
            return Err(StoreError::Contention("DynamoDB's capacity"));
        }
        tokio::time::sleep(backoff(self.attempt)).await;
        self.attempt += 1;
        Ok(())
    }
}

impl Table {
    /// One BatchWriteItem. Returns the rows that were not taken.
    async fn write_rows(&self, rows: Vec<Write>) -> Result<Vec<Write>, StoreError> {
        let requests = rows.iter().map(write_request).collect::<Result<Vec<_>, _>>()?;
        let call = self.client.batch_write_item().request_items(&self.name, requests);
        match call.dispatch().await.map_err(StoreError::from) {
            Ok(answer) => {
                let left = answer.unprocessed_items.unwrap_or_default().remove(&self.name).unwrap_or_default();
                left.into_iter().map(not_taken).collect()
            }
            Err(error) if error.is_throttled() => Ok(rows),
            Err(error) => Err(error),
        }
    }
}

fn write_request((key, item): &Write) -> Result<WriteRequest, StoreError> {
    let request = WriteRequest::builder();
    Ok(match item {
        Some(item) => request.put_request(PutRequest::builder().set_item(Some(Item::clone(item))).build()?).build(),
        None => request.delete_request(DeleteRequest::builder().set_key(Some(key.item())).build()?).build(),
    })
}

fn not_taken(request: WriteRequest) -> Result<Write, StoreError> {
    Ok(match (request.put_request, request.delete_request) {
        (Some(put), _) => (serde_dynamo::from_item(put.item.clone())?, Some(Arc::new(put.item))),
        (None, delete) => (serde_dynamo::from_item(delete.map(|delete| delete.key).unwrap_or_default())?, None),
    })
}
