use std::{collections::BTreeMap, fmt, ops::Deref};

use alloy::{hex, primitives::B256};
use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    batch::{MinedIn, Slot},
    charge::{Charge, CountedOutlay},
    replay::ReplayKey,
};
use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, ChainId, Creation, KeyId, Plan, TransactionId, TransactionStatus, WriteKind},
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError, text},
    },
};

/// All artists' transactions, and the batches that carry them.
#[derive(Clone)]
pub struct Transactions {
    pub(super) table: ArtistTable,
}

/// A transaction as its artist asked for it, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its id.
    #[serde(rename = "transaction_id")]
    pub id: TransactionId,
    /// The artist.
    pub artist_id: ArtistId,
    /// The API key that asked for it; `None` for the artist in person.
    #[serde(default)]
    pub key: Option<KeyId>,
    /// The request's idempotency key, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayKey>,
    /// The chain.
    pub chain: ChainId,
    /// The artist's embedded wallet.
    pub account: Address,
    /// Whether the account was known to be deployed when it was queued.
    #[serde(default)]
    pub is_deployed: bool,
    /// What to call.
    pub plan: StoredPlan,
    /// What the calls may do: the queue that they are in.
    #[serde(default)]
    pub kind: WriteKind,
    /// Most gas that the calls may use.
    pub gas: u64,
    /// What its answer names beside the hash.
    pub creation: Creation,
    /// Progress.
    pub status: TransactionStatus,
    /// Place in the queue, until it is final.
    pub place: String,
    /// Its share of the budgets.
    pub charge: Charge,
    /// What it pays out of the account, if that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlay: Option<CountedOutlay>,
    /// How often it was sent without an outcome of its own.
    #[serde(default)]
    pub attempts: u32,
    /// What attempts without an outcome cost, in wei: part of what it costs in the end.
    #[serde(default)]
    pub attempts_wei: u64,
    /// What each of them cost, by its batch: another block may have that, for another price or with another outcome. Rows
    /// of earlier versions lack some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tries: BTreeMap<String, u64>,
    /// The batch of the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempt: Option<BatchReference>,
    /// What that attempt cost, in wei.
    #[serde(default)]
    pub last_attempt_wei: u64,
    /// The batch that carries it, or did so last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchReference>,
    /// Hashes of all versions of that batch and earlier ones, oldest first.
    #[serde(default)]
    pub hashes: Vec<B256>,
    /// Inclusion in a block; `gas_used` is its own share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mined: Option<MinedIn>,
    /// Why nothing was done, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it ends unsent, in Unix seconds; `None` for rows without such a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<u64>,
    /// What it created, as its answer names it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub result: Map<String, Value>,
    /// When it was queued, in Unix seconds.
    pub created_at: u64,
    /// When it last changed, in Unix seconds.
    pub updated_at: u64,
    /// When its row is deleted, in Unix seconds.
    pub expires_at: u64,
}

/// A batch, by its lane and nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchReference {
    /// The lane.
    pub lane: Address,
    /// The nonce.
    pub nonce: u64,
}

/// Some of an artist's transactions, newest first.
#[derive(Clone, Debug)]
pub struct TransactionPage {
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// Whether there are older ones.
    pub has_more: bool,
}

impl Transaction {
    /// What an attempt in this batch cost, in wei, as far as it is known; `None` if there was none.
    pub fn known(&self, batch: BatchReference) -> Option<u64> {
        let last = (self.last_attempt == Some(batch)).then_some(self.last_attempt_wei);
        self.tries.get(&batch.to_string()).copied().or(last)
    }

    /// What it costs if this batch's share is `wei`, the attempts in others included.
    pub fn cost_with(&self, batch: BatchReference, wei: u64) -> u64 {
        self.attempts_wei.saturating_sub(self.known(batch).unwrap_or_default()).saturating_add(wei)
    }

    /// How often it was sent without an outcome of its own, this batch aside.
    pub fn attempts_before(&self, batch: BatchReference) -> u32 {
        self.attempts.saturating_sub(u32::from(self.known(batch).is_some()))
    }
}

impl fmt::Display for BatchReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.lane, self.nonce)
    }
}

impl From<Slot> for BatchReference {
    fn from(slot: Slot) -> Self {
        Self { lane: slot.lane, nonce: slot.nonce }
    }
}

impl Transactions {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self { table: artists }
    }

    /// Returns an artist's transaction. One read.
    pub async fn get(&self, artist: ArtistId, id: TransactionId) -> Result<Option<Transaction>, StoreError> {
        self.table.get(&transaction_key(artist, id)).await
    }

    /// Returns transactions by artist and id, in any order; missing ones are left out. One read per 100.
    pub async fn get_many(&self, ids: &[(ArtistId, TransactionId)]) -> Result<Vec<Transaction>, StoreError> {
        self.table.get_many(ids.iter().map(|(artist, id)| transaction_key(*artist, *id))).await
    }

    /// Returns at most `limit` of an artist's transactions, newest first, older than `before`. One Query.
    pub async fn list(
        &self,
        artist: ArtistId,
        before: Option<TransactionId>,
        limit: usize,
    ) -> Result<TransactionPage, StoreError> {
        let end = before.map_or_else(|| "~".to_owned(), |id| id.to_string());
        let answer = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression("pk = :pk AND sk < :end")
            .expression_attribute_values(":pk", text(rows::transactions(artist)))
            .expression_attribute_values(":end", AttributeValue::S(end))
            .scan_index_forward(false)
            .limit(i32::try_from(limit.saturating_add(1)).unwrap_or(i32::MAX))
            .dispatch()
            .await?;
        let mut transactions: Vec<Transaction> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
        // A page can end early where rows are long.
        let has_more = transactions.len() > limit || answer.last_evaluated_key.is_some();
        transactions.truncate(limit);
        Ok(TransactionPage { transactions, has_more })
    }
}

pub(super) fn transaction_key(artist: ArtistId, id: TransactionId) -> PrimaryKey {
    rows::transaction(artist, id)
}

/// A plan as its row has it: as JSON text, which keeps 64-bit numbers inside tagged enums exact.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPlan {
    plan: Plan,
    hash: String,
}

impl StoredPlan {
    /// Hash of the text, which stays the same where another version would write the plan differently.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl Deref for StoredPlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl From<Plan> for StoredPlan {
    fn from(plan: Plan) -> Self {
        // A plan that has no text isn't stored.
        let hash = hash_of(&serde_json::to_string(&plan).unwrap_or_default());
        Self { plan, hash }
    }
}

impl Serialize for StoredPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(&self.plan).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let plan = serde_json::from_str(&text).map_err(de::Error::custom)?;
        Ok(Self { plan, hash: hash_of(&text) })
    }
}

fn hash_of(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
