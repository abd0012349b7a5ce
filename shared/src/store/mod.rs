//! DynamoDB. Three tables, split by who may touch them and whether they can be rebuilt: what the chain can rebuild
//! ([`Table::chain`]), what it can't ([`Table::artists`]) and hashes of secrets with their limits
//! ([`Table::secrets`]). One file per aggregate; each says which keys its rows have.

mod artists;
mod challenges;
mod codes;
mod comments;
mod inbox;
mod keys;
mod listing;
mod metadata;
mod moments;
mod naming;
mod numbered;
mod payments;
mod ranked;
mod rankings;
mod rate_windows;
mod search;
mod timeline;
mod transactions;
mod unit;
mod viewed;

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, ProvideErrorMetadata, SdkError},
    operation::transact_write_items::TransactWriteItemsError,
    types::{AttributeValue, KeysAndAttributes, Put, TransactWriteItem},
};
use serde::{Serialize, de::DeserializeOwned};

pub use self::{
    artists::{
        Artist, Artists, HELD_NAMES, Introduction, MAX_WALLETS, NAME_HELD_FOR, Profile, ProfileChange, ProfileRefusal,
        WalletRefusal,
    },
    challenges::{CHALLENGE_LIFETIME, Challenges, StoredChallenge},
    codes::{Codes, StoredCode},
    comments::{CommentPage, Comments, ListedComment, MAX_PREVIEWS, NewComment, PAGE_SIZE},
    inbox::{ArtistChange, ArtistChanged, Inbox},
    keys::{KeyOwner, KeyRecord, Keys, MAX_KEYS},
    listing::{CollectionLists, CollectionPage},
    metadata::{ArrivedDocument, Documents, DueDocument, QUEUE_SHARDS},
    moments::{EarlySettings, Moments, Tier, collection_key, moment_key, moment_keys, split_key},
    naming::{CarriedChange, NamedPlace},
    payments::{NotificationPlace, PaymentFilter, PaymentNumber, PaymentPage, Payments, holder_key, transfers_key},
    ranked::{Direction, RankKey, RankedPage, RankedSet, SetLoader},
    rankings::{PaymentCursor, RankedCollector, Ranking, RankingScope, Rankings, SpendingChange},
    rate_windows::{RateWindow, RateWindows},
    search::{ListedArtist, Search},
    timeline::{Concerned, Listing, Relisting, Scope, TimelineFilter, TimelinePage, Timelines, listing_keys},
    transactions::{
        AccountState, Answer, Attempt, CallerState, Claim, ClaimRefusal, DAY, GasLimits, Intent, LaneState, MAX_OPEN,
        MinedIn, NewTransaction, ReplayKey, ReplayedRequest, Slot, Status, Transaction, Transactions,
    },
    unit::{BlockId, CommitError, Journal, Progress, Unit, Usage},
    viewed::{NotificationList, NumberPage, Viewed},
};
use crate::config::{self, ConfigError};

/// Storage didn't do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The call failed.
    #[error("DynamoDB")]
    Call(#[source] Box<aws_sdk_dynamodb::Error>),
    /// The call can't be written.
    #[error("DynamoDB request")]
    Request(#[from] BuildError),
    /// A row isn't what its aggregate writes.
    #[error("row of an unknown shape")]
    Row(#[from] serde_dynamo::Error),
    /// A row isn't there that another one points to.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// Others kept changing the same rows; the work may be tried again.
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

/// A row, as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// One table.
#[derive(Clone)]
pub struct Table {
    client: Client,
    name: String,
}

impl Table {
    /// What the chain can rebuild, named by `CHAIN_TABLE`.
    ///
    /// # Errors
    /// When the variable is unset.
    pub fn chain(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Self::from_env(aws, "CHAIN_TABLE")
    }

    /// Artists and what is theirs, named by `ARTIST_TABLE`.
    ///
    /// # Errors
    /// When the variable is unset.
    pub fn artists(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Self::from_env(aws, "ARTIST_TABLE")
    }

    /// Hashes of keys and codes, and their limits, named by `SECRET_TABLE`.
    ///
    /// # Errors
    /// When the variable is unset.
    pub fn secrets(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Self::from_env(aws, "SECRET_TABLE")
    }

    /// The table of this name.
    pub fn new(aws: &aws_config::SdkConfig, name: impl Into<String>) -> Self {
        Self { client: Client::new(aws), name: name.into() }
    }

    fn from_env(aws: &aws_config::SdkConfig, variable: &'static str) -> Result<Self, ConfigError> {
        Ok(Self::new(aws, config::required(variable)?))
    }

    async fn get<R: DeserializeOwned>(&self, key: &Key) -> Result<Option<R>, StoreError> {
        let call = self.client.get_item().table_name(&self.name).set_key(Some(key.item()));
        let answer = call.consistent_read(true).send().await?;
        Ok(answer.item.map(serde_dynamo::from_item).transpose()?)
    }

    /// The rows of up to 100 different keys, in any order; missing ones are left out.
    async fn get_many<R: DeserializeOwned>(&self, keys: impl IntoIterator<Item = Key>) -> Result<Vec<R>, StoreError> {
        let (rows, _) = self.read_rows(&Vec::from_iter(keys)).await?;
        Ok(serde_dynamo::from_items(rows)?)
    }

    /// The same as they are stored, and how many calls it took.
    async fn read_rows(&self, keys: &[Key]) -> Result<(Vec<Item>, u64), StoreError> {
        let (mut rows, mut calls) = (Vec::new(), 0);
        let mut pending: Vec<Item> = keys.iter().map(Key::item).collect();
        while !pending.is_empty() {
            let wanted = KeysAndAttributes::builder().set_keys(Some(pending)).consistent_read(true).build()?;
            let answer = self.client.batch_get_item().request_items(&self.name, wanted).send().await?;
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

    /// The write that puts a row where none is yet; its transaction fails when one is there.
    fn insertion<T: Serialize>(&self, key: &Key, fields: &T) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&self.name).set_item(Some(row(key, fields)?));
        let put = put.condition_expression("attribute_not_exists(pk)").build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Writes all of `items` or none; `false` when a condition of one of them doesn't hold. Another transaction at the
    /// same rows is waited for.
    async fn write_together(&self, items: Vec<TransactWriteItem>) -> Result<bool, StoreError> {
        const ATTEMPTS: u32 = 6;
        for attempt in 0..ATTEMPTS {
            match self.write_or_reasons(items.clone()).await? {
                Ok(()) => return Ok(true),
                Err(reasons) if reasons.iter().copied().any(WriteReason::is_condition) => return Ok(false),
                Err(_) => tokio::time::sleep(backoff(attempt)).await,
            }
        }
        Err(StoreError::Contention("a transaction's rows"))
    }

    /// Writes all of `items` or none, and then says of each what it had against it.
    async fn write_or_reasons(
        &self,
        items: Vec<TransactWriteItem>,
    ) -> Result<Result<(), Vec<WriteReason>>, StoreError> {
        match self.client.transact_write_items().set_transact_items(Some(items)).send().await {
            Ok(_) => Ok(Ok(())),
            Err(error) => match error.as_service_error().and_then(reasons) {
                Some(reasons) => Ok(Err(reasons)),
                None => Err(error.into()),
            },
        }
    }
}

/// What one write of a cancelled transaction had against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteReason {
    Nothing,
    /// Its condition doesn't hold.
    Condition,
    /// Another transaction is at its row.
    Conflict,
}

impl WriteReason {
    fn is_condition(self) -> bool {
        self == Self::Condition
    }
}

/// How long to wait before the next try, after `attempt` ones that others were in the way of: random, so that those who
/// met once don't meet again.
pub(crate) fn backoff(attempt: u32) -> Duration {
    let most = 10_u64 << attempt.min(6);
    let random = getrandom::u64().unwrap_or_default();
    Duration::from_millis(1 + random % most)
}

/// What a conditional write answered; `None` when its condition doesn't hold.
fn unless_refused<T, E>(result: Result<T, SdkError<E>>) -> Result<Option<T>, StoreError>
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

/// Why a transaction was cancelled, if it was for conditions or conflicts alone.
fn reasons(error: &TransactWriteItemsError) -> Option<Vec<WriteReason>> {
    let TransactWriteItemsError::TransactionCanceledException(canceled) = error else { return None };
    let reason = |code: Option<&str>| match code {
        None | Some("None") => Some(WriteReason::Nothing),
        Some("ConditionalCheckFailed") => Some(WriteReason::Condition),
        Some("TransactionConflict") => Some(WriteReason::Conflict),
        Some(_) => None,
    };
    canceled.cancellation_reasons().iter().map(|item| reason(item.code())).collect()
}

/// The primary key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Key {
    pk: String,
    sk: String,
}

impl Key {
    fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), text(&self.pk)), ("sk".to_owned(), text(&self.sk))])
    }
}

/// A row as it is stored: its key beside its fields.
#[derive(Serialize)]
struct Row<'a, T> {
    #[serde(flatten)]
    key: &'a Key,
    #[serde(flatten)]
    fields: &'a T,
}

fn row<T: Serialize>(key: &Key, fields: &T) -> Result<Item, StoreError> {
    Ok(serde_dynamo::to_item(Row { key, fields })?)
}

fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
