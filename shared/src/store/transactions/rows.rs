use std::collections::BTreeSet;

use alloy::{
    hex,
    primitives::{self, B256, Bytes},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    model::{Address, ArtistId, ChainId, Fees},
    store::Key,
};

/// Most transactions that a lane has open at a time: what geth keeps of one sender for sure.
pub const MAX_OPEN: usize = 16;

/// One nonce of one lane on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The chain.
    pub chain: ChainId,
    /// The lane.
    pub lane: Address,
    /// The nonce.
    pub nonce: u64,
}

/// What a transaction is to do. Never changes; only fees do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The contract that the lane calls.
    pub to: primitives::Address,
    /// What it calls it with.
    pub data: Bytes,
    /// The gas that it may use.
    pub gas_limit: u64,
}

/// How far a transaction has come. Each is a fact, never a hope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has its nonce, and no signature.
    Claimed,
    /// Its signed bytes are stored. They may have left.
    Signed,
    /// A node has taken them.
    Broadcast,
    /// It is in a block and did what it was to do.
    Mined,
    /// It is in a block and did nothing.
    Reverted,
    /// It never left, or nodes refuse it for good. Its nonce waits for a transaction that does nothing.
    Abandoned,
    /// A transaction that does nothing took its nonce.
    Filled,
    /// The lane's key was used elsewhere with its nonce.
    Displaced,
}

impl Status {
    /// The word that is stored.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Signed => "signed",
            Self::Broadcast => "broadcast",
            Self::Mined => "mined",
            Self::Reverted => "reverted",
            Self::Abandoned => "abandoned",
            Self::Filled => "filled",
            Self::Displaced => "displaced",
        }
    }
}

/// The signed bytes that are sent, and sent again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The transaction's hash.
    pub hash: B256,
    /// The bytes.
    pub signed: Bytes,
    /// What they offer.
    pub fees: Fees,
    /// Unix time in seconds.
    pub signed_at: u64,
}

/// The block that a transaction is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedIn {
    /// Which of the transaction's hashes.
    pub hash: B256,
    /// Number of the block.
    pub block: u64,
    /// Gas that it used.
    pub gas_used: u64,
}

/// A transaction and all that was done for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its nonce.
    #[serde(flatten)]
    pub slot: Slot,
    /// Whose it is.
    pub artist_id: ArtistId,
    /// What it is to do.
    pub intent: Intent,
    /// Whether it deploys the artist's account on the way.
    pub deploys_account: bool,
    /// The idempotency key that it was asked for with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayKey>,
    /// How far it is.
    pub status: Status,
    /// What is sent for it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// Every hash under which the intent was signed with this nonce, the oldest first.
    pub hashes: Vec<B256>,
    /// Every hash under which the nonce was filled with a transaction that does nothing.
    pub filler_hashes: Vec<B256>,
    /// The block that it, or its filler, is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mined: Option<MinedIn>,
    /// Whether it has had another nonce, which somebody else used. It was accepted then, and is never given up.
    #[serde(default)]
    pub is_moved: bool,
    /// Unix time in seconds.
    pub claimed_at: u64,
}

/// How a lane stands on a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    /// The nonce that the next transaction gets.
    pub next_nonce: u64,
    /// Nonces that are given out and whose transaction isn't known to be in a block.
    #[serde(default, with = "serde_dynamo::number_set", skip_serializing_if = "BTreeSet::is_empty")]
    pub open: BTreeSet<u64>,
    /// Day that `gas_spent` counts, since the Unix epoch.
    pub gas_day: u64,
    /// Gas given out on that day.
    pub gas_spent: u64,
}

/// An artist's account on one chain, as far as this service deploys it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountState {
    /// Whether it is deployed for sure.
    pub deployed: bool,
    /// The nonce of the transaction that deploys it.
    pub deployed_by: Option<u64>,
}

/// Where the answer to a request with an idempotency key is kept: the caller's own, and the key only as its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplayKey(String);

impl ReplayKey {
    /// The place of one artist's key.
    pub fn new(artist: ArtistId, key: &str) -> Self {
        Self(format!("{artist}#{}", hex::encode(Sha256::digest(key))))
    }
}

/// What a client was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: String,
}

impl Answer {
    /// Whether it is the last word. 202 isn't: the transaction goes on, and its end says more.
    pub fn is_final(&self) -> bool {
        self.status != 202
    }
}

/// A request that brought an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedRequest {
    /// Hash of its path and body.
    pub fingerprint: String,
    /// The transaction that it led to.
    #[serde(flatten)]
    pub slot: Slot,
    /// Its answer, once it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Unix time in seconds from which the key may be used anew.
    pub expires_at: u64,
}

pub(super) fn lane_key(chain: ChainId, lane: Address) -> Key {
    Key::new(lane_partition(chain, lane), "LANE")
}

pub(super) fn lease_key(chain: ChainId, lane: Address) -> Key {
    Key::new(lane_partition(chain, lane), "LEASE")
}

pub(super) fn transaction_key(slot: &Slot) -> Key {
    Key::new(lane_partition(slot.chain, slot.lane), format!("TX#{:020}", slot.nonce))
}

pub(super) fn gas_key(artist: ArtistId, chain: ChainId, day: u64) -> Key {
    Key::new(artist_partition(artist), format!("GAS#{chain}#{day}"))
}

pub(super) fn account_key(artist: ArtistId, chain: ChainId) -> Key {
    Key::new(artist_partition(artist), format!("ACCOUNT#{chain}"))
}

pub(super) fn replay_key(replay: &ReplayKey) -> Key {
    Key::new(format!("REPLAY#{}", replay.0), "REQUEST")
}

fn lane_partition(chain: ChainId, lane: Address) -> String {
    format!("LANE#{chain}#{lane}")
}

fn artist_partition(artist: ArtistId) -> String {
    format!("ARTIST#{artist}")
}
