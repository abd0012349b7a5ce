use alloy::primitives::B256;
use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ArtistId, ChainId, ConcurrencyKey, Fees, TransactionId},
    store::{artist::rows, engine::table::PrimaryKey},
};

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

/// Many artists' transactions in one of a lane. It exists from its first signed bytes on, so no nonce is without any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its nonce.
    #[serde(flatten)]
    pub slot: Slot,
    /// The transactions, in packed order; empty for one that only uses up the nonce.
    pub members: Vec<Member>,
    /// Progress.
    pub status: BatchStatus,
    /// All signed versions, oldest first.
    pub attempts: Vec<Attempt>,
    /// Bytes of the newest version that isn't a filler.
    #[serde(with = "serde_bytes")]
    pub signed: Vec<u8>,
    /// Bytes of the newest filler; empty without one.
    #[serde(default, with = "serde_bytes")]
    pub filler: Vec<u8>,
    /// Inclusion in a block, of the batch as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mined: Option<MinedIn>,
    /// Endings that wait until its block is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingEnding>,
    /// When it was signed first, in Unix seconds.
    pub created_at: u64,
}

/// The ending of a transaction that wasn't done, before the block that says so is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingEnding {
    /// The transaction.
    pub transaction_id: TransactionId,
    /// Why nothing was done, in words.
    pub reason: String,
    /// Gas that it used, if the contracts refused it in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gas_used: Option<u64>,
    /// Its share of the batch's cost, in wei.
    pub wei: u64,
}

/// A transaction in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The artist.
    pub artist_id: ArtistId,
    /// The transaction.
    pub transaction_id: TransactionId,
    /// The account that makes the calls.
    pub account: Address,
    /// Whether its account is deployed just before.
    pub deploys: bool,
    /// What no other batch may read or change at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<ConcurrencyKey>,
}

/// Signed bytes, which may be sent repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Transaction hash.
    pub hash: B256,
    /// Fees that it offers.
    pub fees: Fees,
    /// Time of signing, in Unix seconds.
    pub signed_at: u64,
    /// Whether it does nothing but use up the nonce, so that the batch can't be mined any more.
    pub fills: bool,
}

/// Inclusion in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedIn {
    /// Hash that was included.
    pub hash: B256,
    /// Block number.
    pub block: u64,
    /// Hash of the block.
    pub block_hash: B256,
    /// Gas used.
    pub gas_used: u64,
}

/// Progress of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchStatus {
    /// Signed, stored, and perhaps sent.
    Open,
    /// In a block, which isn't final.
    Mined,
    /// In a block that is final.
    Final,
    /// Its filler used the nonce: nothing was done.
    Filled,
    /// The lane's key signed something else with the nonce: nothing was done.
    Displaced,
}

impl BatchStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Open, Self::Mined, Self::Final, Self::Filled, Self::Displaced];

    /// Whether `next` can follow: the one table of transitions, which every write to a batch goes by.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Open => matches!(next, Self::Open | Self::Mined | Self::Filled | Self::Displaced),
            // A reorganisation takes the block back, and another one may have another version.
            Self::Mined | Self::Filled => matches!(next, Self::Open | Self::Mined | Self::Filled | Self::Final),
            Self::Final | Self::Displaced => false,
        }
    }

    /// The status in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Mined => "mined",
            Self::Final => "final",
            Self::Filled => "filled",
            Self::Displaced => "displaced",
        }
    }
}

impl Batch {
    /// Hashes of all versions.
    pub fn hashes(&self) -> Vec<B256> {
        self.attempts.iter().map(|attempt| attempt.hash).collect()
    }

    /// Bytes of the newest version.
    pub fn newest(&self) -> &[u8] {
        if self.is_filling() { &self.filler } else { &self.signed }
    }

    /// Whether the newest version does nothing but use up the nonce.
    pub fn is_filling(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.fills)
    }

    /// The status that a block gives it which has the version with this hash.
    pub fn status_by(&self, hash: B256) -> BatchStatus {
        if self.fills(hash) { BatchStatus::Filled } else { BatchStatus::Mined }
    }

    /// Whether the version with this hash does nothing.
    pub fn fills(&self, hash: B256) -> bool {
        self.attempts.iter().any(|attempt| attempt.hash == hash && attempt.fills)
    }
}

pub(super) fn batch_key(slot: &Slot) -> PrimaryKey {
    rows::batch(slot.chain, slot.lane, slot.nonce)
}

pub(super) fn lane_key(chain: ChainId, lane: Address) -> PrimaryKey {
    rows::lane(chain, lane)
}

pub(super) fn lanes_key(chain: ChainId) -> PrimaryKey {
    rows::lanes(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_and_displaced_batches_never_change() {
        for next in BatchStatus::ALL {
            assert!(!BatchStatus::Final.may_become(next));
            assert!(!BatchStatus::Displaced.may_become(next));
        }
        assert!(!BatchStatus::Open.may_become(BatchStatus::Final), "it is mined before");
    }
}
