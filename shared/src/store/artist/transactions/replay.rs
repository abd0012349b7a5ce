use alloy::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    model::{ArtistId, TransactionId},
    store::{artist::rows, engine::table::PrimaryKey},
};

/// Reference to a request by artist and hash of its idempotency key, or of the request itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplayKey(String);

impl ReplayKey {
    /// The reference for one artist's key.
    pub fn new(artist: ArtistId, key: &str) -> Self {
        Self(format!("{artist}#{}", hex::encode(Sha256::digest(key))))
    }

    /// The reference for one artist's request that has no key, by the hash of its path and body.
    pub fn of_request(artist: ArtistId, fingerprint: &str) -> Self {
        Self(format!("{artist}#SAME#{fingerprint}"))
    }
}

/// A request's claim to be carried out, which a repeat of it doesn't get.
#[derive(Clone, Debug)]
pub struct ReplayClaim {
    /// What a repeat is known by.
    pub key: ReplayKey,
    /// Hash of the request's path and body.
    pub fingerprint: String,
    /// Seconds for which a repeat is answered as the first request.
    pub lifetime: u64,
    /// The earlier request that has outlived its claim.
    pub outlived: Option<Replay>,
}

/// A request with an idempotency key that queued transactions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Hash of its path and body.
    pub fingerprint: String,
    /// Its transactions, in their order.
    pub transactions: Vec<TransactionId>,
    /// When the key may be reused if all of them are final, in Unix seconds.
    pub reusable_at: u64,
    /// When the row is deleted, in Unix seconds: with its transactions, so that no retry repeats one that waits.
    pub expires_at: u64,
}

pub(in crate::store) fn replay_key(replay: &ReplayKey) -> PrimaryKey {
    rows::replay(&replay.0)
}
