use std::collections::BTreeSet;

use alloy::{
    hex,
    primitives::{self, B256, Bytes},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    model::{Address, ArtistId, ChainId, Fees},
    store::table::PrimaryKey,
};

/// Maximum number of open transactions per lane: what geth reliably keeps per sender.
pub const MAX_OPEN: usize = 16;

/// A nonce of a lane on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The chain.
    pub chain: ChainId,
    /// The lane.
    pub lane: Address,
    /// The nonce.
    pub nonce: u64,
}

/// The call of a transaction. Never changes; only fees do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Contract to call.
    pub to: primitives::Address,
    /// Calldata.
    pub data: Bytes,
    /// Gas limit.
    pub gas_limit: u64,
}

/// Progress of a transaction: always a fact, never an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Has a nonce, but no signature.
    Claimed,
    /// The signed bytes are stored and may have been sent.
    Signed,
    /// A node accepted it.
    Broadcast,
    /// In a block, and succeeded.
    Mined,
    /// In a block, and reverted.
    Reverted,
    /// Never sent, or refused by nodes for good. The nonce waits for a filler transaction.
    Abandoned,
    /// A filler transaction used the nonce.
    Filled,
    /// The lane's key signed something else with the nonce.
    Displaced,
}

impl Status {
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

/// Signed bytes, which may be sent repeatedly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Transaction hash.
    pub hash: B256,
    /// Signed transaction.
    pub signed: Bytes,
    /// Fees that it offers.
    pub fees: Fees,
    /// Time of signing, in Unix seconds.
    pub signed_at: u64,
}

/// Inclusion of a transaction in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedIn {
    /// Hash that was included.
    pub hash: B256,
    /// Block number.
    pub block: u64,
    /// Gas used.
    pub gas_used: u64,
}

/// A transaction and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its nonce.
    #[serde(flatten)]
    pub slot: Slot,
    /// The artist.
    pub artist_id: ArtistId,
    /// The call.
    pub intent: Intent,
    /// Whether it also deploys the artist's account.
    pub deploys_account: bool,
    /// Idempotency key of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayKey>,
    /// Progress.
    pub status: Status,
    /// Current signed bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// Hashes of all signed versions of the intent with this nonce, oldest first.
    pub hashes: Vec<B256>,
    /// Hashes of all fillers of the nonce.
    pub filler_hashes: Vec<B256>,
    /// Inclusion of it or of its filler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mined: Option<MinedIn>,
    /// Whether its first nonce was used elsewhere. Such a transaction was once accepted and is never abandoned.
    #[serde(default)]
    pub is_moved: bool,
    /// Time of the claim, in Unix seconds.
    pub claimed_at: u64,
}

/// State of a lane on a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    /// Next nonce to allocate.
    pub next_nonce: u64,
    /// Allocated nonces that aren't known to be in a block.
    #[serde(default, with = "serde_dynamo::number_set", skip_serializing_if = "BTreeSet::is_empty")]
    pub open: BTreeSet<u64>,
    /// Day of `gas_spent`, counted from the Unix epoch.
    pub gas_day: u64,
    /// Gas granted on that day.
    pub gas_spent: u64,
}

/// An artist's account on one chain, as far as this service deploys it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountState {
    /// Whether its deployment is confirmed.
    pub deployed: bool,
    /// Nonce of the deploying transaction.
    pub deployed_by: Option<u64>,
}

/// Reference to a request by artist and hash of its idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplayKey(String);

impl ReplayKey {
    /// The reference for one artist's key.
    pub fn new(artist: ArtistId, key: &str) -> Self {
        Self(format!("{artist}#{}", hex::encode(Sha256::digest(key))))
    }
}

/// Stored HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// JSON body.
    pub body: String,
}

impl Answer {
    /// Returns whether no later answer replaces it. 202 is not final: the transaction is still under way.
    pub fn is_final(&self) -> bool {
        self.status != 202
    }
}

/// A request with an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedRequest {
    /// Hash of its path and body.
    pub fingerprint: String,
    /// Its transaction.
    #[serde(flatten)]
    pub slot: Slot,
    /// Its answer, once given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// When the key may be reused, in Unix seconds.
    pub expires_at: u64,
}

pub(super) fn lane_key(chain: ChainId, lane: Address) -> PrimaryKey {
    PrimaryKey::new(lane_partition(chain, lane), "LANE")
}

pub(super) fn lease_key(chain: ChainId, lane: Address) -> PrimaryKey {
    PrimaryKey::new(lane_partition(chain, lane), "LEASE")
}

pub(super) fn transaction_key(slot: &Slot) -> PrimaryKey {
    PrimaryKey::new(lane_partition(slot.chain, slot.lane), format!("TX#{:020}", slot.nonce))
}

pub(super) fn gas_key(artist: ArtistId, chain: ChainId, day: u64) -> PrimaryKey {
    PrimaryKey::new(artist_partition(artist), format!("GAS#{chain}#{day}"))
}

pub(super) fn account_key(artist: ArtistId, chain: ChainId) -> PrimaryKey {
    PrimaryKey::new(artist_partition(artist), format!("ACCOUNT#{chain}"))
}

pub(super) fn replay_key(replay: &ReplayKey) -> PrimaryKey {
    PrimaryKey::new(format!("REPLAY#{}", replay.0), "REQUEST")
}

fn lane_partition(chain: ChainId, lane: Address) -> String {
    format!("LANE#{chain}#{lane}")
}

fn artist_partition(artist: ArtistId) -> String {
    format!("ARTIST#{artist}")
}
