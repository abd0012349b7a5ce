use std::{collections::HashMap, ops::Deref, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    config::Builder,
    error::{BuildError, ProvideErrorMetadata, SdkError},
    operation::{query::builders::QueryFluentBuilder, transact_write_items::TransactWriteItemsError},
    types::{
        AttributeValue, Delete, DeleteRequest, KeysAndAttributes, Put, PutRequest, TransactWriteItem, WriteRequest,
        builders::UpdateBuilder,
    },
};
use futures::{StreamExt, TryStreamExt, future::BoxFuture, stream};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    telemetry::trace::AwsCalls,
};

/// Storage error.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A DynamoDB call failed.
    #[error("DynamoDB")]
    Call(#[source] Box<aws_sdk_dynamodb::Error>),
    /// A request could not be built.
    #[error("DynamoDB request")]
    Request(#[from] BuildError),
    /// A row could not be converted.
    #[error("malformed row")]
    Row(#[from] serde_dynamo::Error),
    /// A row that another one refers to is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// Concurrent changes won every attempt; the caller may retry.
    #[error("too much contention on {0}")]
    Contention(&'static str),
}

impl<E> From<SdkError<E>> for StoreError
where
    aws_sdk_dynamodb::Error: From<SdkError<E>>,
{
    fn from(error: SdkError<E>) -> Self {
        Self::Call(Box::new(error.into()))
    }
}

impl StoreError {
    /// Returns whether DynamoDB refused a call only because there were too many.
    pub(in crate::store) fn is_throttled(&self) -> bool {
        let Self::Call(error) = self else { return false };
        let codes = ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"];
        error.code().is_some_and(|code| codes.contains(&code))
    }
}

/// Calls that are made of a throttled or contended one, besides the SDK's own retries.
const THROTTLED_ATTEMPTS: u32 = 8;

/// DynamoDB's limits for BatchGetItem and BatchWriteItem.
pub(in crate::store) const MAX_READ: usize = 100;
pub(in crate::store) const MAX_WRITE: usize = 25;

pub(in crate::store) const READS_AT_ONCE: usize = 8;

const WRITES_AT_ONCE: usize = 8;

/// A row as the SDK represents it.
pub type Item = HashMap<String, AttributeValue>;

/// A DynamoDB table. Outside the store it is one of four types, so that an aggregate can't be given another's table.
#[derive(Clone)]
pub struct Table {
    pub(in crate::store) client: Client,
    pub(in crate::store) name: String,
    consistent: bool,
}

/// Declares the type of a table and the variable that names the table.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident = $variable:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $table(pub(in crate::store) Table);

        impl Deref for $table {
            type Target = Table;

            fn deref(&self) -> &Table {
                &self.0
            }
        }

        impl $table {
            /// The table that the environment names.
            pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
                Ok(Self::new(aws, config::required(config::variables::$variable)?))
            }

            /// The table with this name.
            pub fn new(aws: &aws_config::SdkConfig, name: impl Into<String>) -> Self {
                Self(Table::new(aws, name))
            }

            /// The same table, read for half the units: a row is seen as it was up to a second ago.
            #[must_use]
            pub fn eventually_consistent(self) -> Self {
                Self(Table { consistent: false, ..self.0 })
            }
        }
    )*};
}

tables! {
    /// Rows that the chain can rebuild.
    ChainTable = CHAIN_TABLE;
    /// Documents that were read from the web.
    DocumentTable = DOCUMENT_TABLE;
    /// Artists and their transactions.
    ArtistTable = ARTIST_TABLE;
    /// Hashes of secrets, and rate limits.
    SecretTable = SECRET_TABLE;
}

impl Table {
    fn new(aws: &aws_config::SdkConfig, name: impl Into<String>) -> Self {
        let client = Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build());
        Self { client, name: name.into(), consistent: true }
    }

    pub(in crate::store) fn is_consistent(&self) -> bool {
        self.consistent
    }

    pub(in crate::store) fn consistent(self) -> Self {
        Self { consistent: true, ..self }
    }

    pub(in crate::store) async fn get<R: DeserializeOwned>(&self, key: &PrimaryKey) -> Result<Option<R>, StoreError> {
        Ok(self.item(key.item()).await?.map(serde_dynamo::from_item).transpose()?)
    }

    /// The row as DynamoDB has it. Boxed, as [`Self::items`] is, so that a read is compiled once in this crate and not in
    /// each function.
    pub(in crate::store) fn item(&self, key: Item) -> BoxFuture<'_, Result<Option<Item>, StoreError>> {
        Box::pin(async move {
            let mut attempt = 0;
            loop {
                let call = self.client.get_item().table_name(&self.name).set_key(Some(key.clone()));
                match call.consistent_read(self.consistent).dispatch().await.map_err(StoreError::from) {
                    Ok(answer) => return Ok(answer.item),
                    Err(error) if error.is_throttled() && attempt < THROTTLED_ATTEMPTS => {}
                    Err(error) => return Err(error),
                }
                tokio::time::sleep(backoff(attempt)).await;
                attempt += 1;
            }
        })
    }

    pub(in crate::store) fn query(&self) -> QueryFluentBuilder {
        self.client.query().table_name(&self.name).consistent_read(self.consistent)
    }

    /// All rows of a partition, in order. A Query per megabyte.
    pub(in crate::store) async fn partition<R: DeserializeOwned>(&self, pk: String) -> Result<Vec<R>, StoreError> {
        let call = self.query().key_condition_expression("pk = :pk").expression_attribute_values(":pk", text(pk));
        let items = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        Ok(serde_dynamo::from_items(items)?)
    }

    /// Rows of a queue that are due at `now` (Unix seconds), the longest overdue first; their sort keys begin with when
    /// they are due, as `{due:012}`. One Query.
    pub(in crate::store) async fn due<R: DeserializeOwned>(
        &self,
        queue: String,
        now: u64,
        limit: i32,
    ) -> Result<Vec<R>, StoreError> {
        self.due_in_order(true, queue, now, limit).await
    }

    /// The same, those that came due last first.
    pub(in crate::store) async fn newest_due<R: DeserializeOwned>(
        &self,
        queue: String,
        now: u64,
        limit: i32,
    ) -> Result<Vec<R>, StoreError> {
        self.due_in_order(false, queue, now, limit).await
    }

    async fn due_in_order<R: DeserializeOwned>(
        &self,
        ascending: bool,
        queue: String,
        now: u64,
        limit: i32,
    ) -> Result<Vec<R>, StoreError> {
        let call = self
            .query()
            .key_condition_expression("pk = :queue AND sk < :later")
            .expression_attribute_values(":queue", text(queue))
            .expression_attribute_values(":later", text(format!("{:012}", now + 1)))
            .scan_index_forward(ascending)
            .limit(limit);
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }

    /// Rows of different keys, in any order; missing ones are left out. One read per 100, some at the same time.
    pub(in crate::store) async fn get_many<R: DeserializeOwned>(
        &self,
        keys: impl IntoIterator<Item = PrimaryKey>,
    ) -> Result<Vec<R>, StoreError> {
        Ok(serde_dynamo::from_items(self.items(Vec::from_iter(keys)).await?)?)
    }

    /// The same without rows that can't be read, for work that one row must not stop.
    pub(in crate::store) async fn get_readable<R: DeserializeOwned>(
        &self,
        keys: impl IntoIterator<Item = PrimaryKey>,
    ) -> Result<Vec<R>, StoreError> {
        Ok(readable(self.items(Vec::from_iter(keys)).await?))
    }

    fn items(&self, keys: Vec<PrimaryKey>) -> BoxFuture<'_, Result<Vec<Item>, StoreError>> {
        Box::pin(async move {
            let reads = keys.chunks(MAX_READ).map(|keys| self.read_rows(keys)).collect::<Vec<_>>();
            let read: Vec<_> = stream::iter(reads).buffer_unordered(READS_AT_ONCE).try_collect().await?;
            Ok(read.into_iter().flat_map(|(rows, _)| rows).collect())
        })
    }

    /// At most [`MAX_READ`] keys. Also returns the number of calls.
    pub(in crate::store) async fn read_rows(&self, keys: &[PrimaryKey]) -> Result<(Vec<Item>, u64), StoreError> {
        let (mut rows, mut calls) = (Vec::new(), 0);
        let mut pending: Vec<Item> = keys.iter().map(PrimaryKey::item).collect();
        while !pending.is_empty() {
            let wanted = KeysAndAttributes::builder().set_keys(Some(pending.clone()));
            let wanted = wanted.consistent_read(self.consistent).build()?;
            let call = self.client.batch_get_item().request_items(&self.name, wanted);
            let answer = match call.dispatch().await.map_err(StoreError::from) {
                Ok(answer) => answer,
                Err(error) if error.is_throttled() && calls < THROTTLED_ATTEMPTS => {
                    tokio::time::sleep(backoff(calls)).await;
                    calls += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            rows.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
            let unprocessed = answer.unprocessed_keys.unwrap_or_default().remove(&self.name);
            pending = unprocessed.map(|keys| keys.keys).unwrap_or_default();
            if !pending.is_empty() {
                tokio::time::sleep(backoff(calls)).await;
            }
            calls += 1;
        }
        Ok((rows, calls.into()))
    }

    /// Writes and deletes rows of different keys, in any order: who fails halfway does it again. One call per 25, some at the
    /// same time.
    pub(in crate::store) async fn write_many(&self, writes: Vec<WriteRequest>) -> Result<(), StoreError> {
        let calls = writes.chunks(MAX_WRITE).map(|few| self.write_some(few.to_vec())).collect::<Vec<_>>();
        stream::iter(calls).buffer_unordered(WRITES_AT_ONCE).try_collect().await
    }

    fn write_some(&self, mut pending: Vec<WriteRequest>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            for attempt in 0..=THROTTLED_ATTEMPTS {
                let call = self.client.batch_write_item().request_items(&self.name, pending.clone());
                match call.dispatch().await.map_err(StoreError::from) {
                    Ok(answer) => {
                        pending = answer.unprocessed_items.unwrap_or_default().remove(&self.name).unwrap_or_default();
                    }
                    Err(error) if error.is_throttled() => {}
                    Err(error) => return Err(error),
                }
                if pending.is_empty() {
                    return Ok(());
                }
                tokio::time::sleep(backoff(attempt)).await;
            }
            Err(StoreError::Contention("rows that are written together"))
        })
    }

    /// Fails its transaction if the row exists.
    pub(in crate::store) fn insertion<T: Serialize>(
        &self,
        key: &PrimaryKey,
        fields: &T,
    ) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&self.name).set_item(Some(row(key, fields)?));
        let put = put.condition_expression("attribute_not_exists(pk)").build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Replaces the row if it exists.
    pub(in crate::store) fn replacement<T: Serialize>(
        &self,
        key: &PrimaryKey,
        fields: &T,
    ) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&self.name).set_item(Some(row(key, fields)?)).build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Deletes the row if it exists.
    pub(in crate::store) fn deletion(&self, key: &PrimaryKey) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.name).set_key(Some(key.item())).build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    /// Deletes the row; fails its transaction if there is none.
    pub(in crate::store) fn removal(&self, key: &PrimaryKey) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.name).set_key(Some(key.item()));
        let delete = delete.condition_expression("attribute_exists(pk)").build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    /// Writes all items or none; `false` if a condition failed. Conflicts and throttling are retried.
    pub(in crate::store) async fn write_together(&self, items: Vec<TransactWriteItem>) -> Result<bool, StoreError> {
        Ok(self.write_or_failed(items).await?.is_ok())
    }

    /// The same; an error has the places of the items whose conditions failed.
    pub(in crate::store) async fn write_or_failed(
        &self,
        items: Vec<TransactWriteItem>,
    ) -> Result<Result<(), Vec<usize>>, StoreError> {
        for attempt in 0..THROTTLED_ATTEMPTS {
            match self.write_or_reasons(items.clone()).await {
                Ok(Ok(())) => return Ok(Ok(())),
                Ok(Err(reasons)) if reasons.iter().copied().any(WriteReason::is_condition) => {
                    let failed = reasons.iter().enumerate().filter(|(_, reason)| reason.is_condition());
                    return Ok(Err(failed.map(|(place, _)| place).collect()));
                }
                Err(error) if !error.is_throttled() => return Err(error),
                _ => tokio::time::sleep(backoff(attempt)).await,
            }
        }
        Err(StoreError::Contention("a transaction's rows"))
    }

    pub(in crate::store) async fn write_or_reasons(
        &self,
        items: Vec<TransactWriteItem>,
    ) -> Result<Result<(), Vec<WriteReason>>, StoreError> {
        match self.client.transact_write_items().set_transact_items(Some(items)).dispatch().await {
            Ok(_) => Ok(Ok(())),
            Err(error) => match error.as_service_error().and_then(reasons) {
                Some(reasons) => Ok(Err(reasons)),
                None => Err(error.into()),
            },
        }
    }
}

/// Rows without those that can't be read, which are logged by their keys.
pub(in crate::store) fn readable<R: DeserializeOwned>(rows: Vec<Item>) -> Vec<R> {
    let read = |row: Item| {
        let key =
            ["pk", "sk"].map(|name| row.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default());
        let read = serde_dynamo::from_item(row);
        read.inspect_err(|error| tracing::error!(row = key.join(" "), error = %error, "malformed row left out")).ok()
    };
    rows.into_iter().filter_map(read).collect()
}

/// A row as one of many that are written.
pub(in crate::store) fn putting<T: Serialize>(key: &PrimaryKey, fields: &T) -> Result<WriteRequest, StoreError> {
    let put = PutRequest::builder().set_item(Some(row(key, fields)?)).build()?;
    Ok(WriteRequest::builder().put_request(put).build())
}

/// A deletion as one of many.
pub(in crate::store) fn deleting(key: &PrimaryKey) -> Result<WriteRequest, StoreError> {
    let delete = DeleteRequest::builder().set_key(Some(key.item())).build()?;
    Ok(WriteRequest::builder().delete_request(delete).build())
}

/// An update as one of the items that are written together.
pub(in crate::store) fn updating(update: UpdateBuilder) -> Result<TransactWriteItem, StoreError> {
    Ok(TransactWriteItem::builder().update(update.build()?).build())
}

/// A condition that the row's status is one of `words`, and the update with what the condition names.
pub(in crate::store) fn status_in<'a>(
    update: UpdateBuilder,
    words: impl Iterator<Item = &'a str>,
) -> (UpdateBuilder, String) {
    let (mut update, mut names) = (update.expression_attribute_names("#status", "status"), Vec::new());
    for word in words {
        let name = format!(":from_{word}");
        update = update.expression_attribute_values(&name, text(word));
        names.push(name);
    }
    (update, format!("#status IN ({})", names.join(", ")))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum WriteReason {
    Nothing,
    Condition,
    Conflict,
    Throttled,
}

impl WriteReason {
    pub(in crate::store) fn is_condition(self) -> bool {
        self == Self::Condition
    }
}

/// Random delay before retry number `attempt`, so that competing writers spread out.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let most = 10_u64 << attempt.min(6);
    let random = getrandom::u64().unwrap_or_default();
    Duration::from_millis(1 + random % most)
}

/// `None` if the condition failed.
pub(in crate::store) fn unless_refused<T, E>(result: Result<T, SdkError<E>>) -> Result<Option<T>, StoreError>
where
    E: ProvideErrorMetadata,
    aws_sdk_dynamodb::Error: From<SdkError<E>>,
{
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.code() == Some("ConditionalCheckFailedException") => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `None` if it failed for anything but conditions and conflicts.
fn reasons(error: &TransactWriteItemsError) -> Option<Vec<WriteReason>> {
    let TransactWriteItemsError::TransactionCanceledException(canceled) = error else { return None };
    let reason = |code: Option<&str>| match code {
        None | Some("None") => Some(WriteReason::Nothing),
        Some("ConditionalCheckFailed") => Some(WriteReason::Condition),
        Some("TransactionConflict") => Some(WriteReason::Conflict),
        Some("ThrottlingError" | "ProvisionedThroughputExceeded") => Some(WriteReason::Throttled),
        Some(_) => None,
    };
    canceled.cancellation_reasons().iter().map(|item| reason(item.code())).collect()
}

/// Primary key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PrimaryKey {
    pub(in crate::store) pk: String,
    pub(in crate::store) sk: String,
}

impl PrimaryKey {
    pub(in crate::store) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(in crate::store) fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), text(&self.pk)), ("sk".to_owned(), text(&self.sk))])
    }
}

#[derive(Serialize)]
pub(in crate::store) struct Row<'a, T> {
    #[serde(flatten)]
    key: &'a PrimaryKey,
    #[serde(flatten)]
    fields: &'a T,
}

pub(in crate::store) fn row<T: Serialize>(key: &PrimaryKey, fields: &T) -> Result<Item, StoreError> {
    Ok(serde_dynamo::to_item(Row { key, fields })?)
}

pub(in crate::store) fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

pub(in crate::store) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
