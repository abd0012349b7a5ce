//! Messages to sign with a wallet. A signed one is looked up by hash and never parsed: an altered one is unknown.

use std::time::Duration;

use aws_sdk_dynamodb::types::{ReturnValue, TransactWriteItem};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, ChainId},
    store::{
        engine::table::{SecretTable, StoreError, number, row, text, unless_refused},
        secret::rows,
    },
};

/// How long a challenge can be answered.
pub const CHALLENGE_LIFETIME: Duration = Duration::from_secs(10 * 60);

const MAX_TRIES: u32 = 5;

/// Stored part of a challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredChallenge {
    /// SHA-256 of the message, in hexadecimal.
    pub hash: String,
    /// Artist who asked for it, to connect the wallet; `None` for a sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artist_id: Option<ArtistId>,
    /// Wallet that must sign it.
    pub wallet: Address,
    /// Chain of the wallet, if it is a contract.
    pub chain: ChainId,
    /// Expiry, in Unix seconds; the row is deleted some time after.
    pub expires_at: u64,
    /// Number of answers so far.
    pub tries: u32,
}

/// Open challenges.
#[derive(Clone)]
pub struct Challenges(SecretTable);

impl StoredChallenge {
    /// Creates the record for `message`, issued at `now` (Unix seconds).
    pub fn new(message: &str, artist_id: Option<ArtistId>, wallet: Address, chain: ChainId, now: u64) -> Self {
        let expires_at = now + CHALLENGE_LIFETIME.as_secs();
        Self { hash: hash(message), artist_id, wallet, chain, expires_at, tries: 0 }
    }
}

impl Challenges {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a challenge. One write.
    pub async fn put(&self, challenge: &StoredChallenge) -> Result<(), StoreError> {
        let item = row(&rows::challenge(&challenge.hash), challenge)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Counts an answer of the artist, or of nobody for a sign-in, and returns the challenge; `None` if unknown, asked for
    /// by another, used, expired or out of tries. One write.
    pub async fn count_try(
        &self,
        message: &str,
        artist: Option<ArtistId>,
        now: u64,
    ) -> Result<Option<StoredChallenge>, StoreError> {
        let asker = if artist.is_some() { "artist_id = :artist" } else { "attribute_not_exists(artist_id)" };
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(rows::challenge(&hash(message)).item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression(format!("{asker} AND tries < :max AND expires_at > :now"))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let call = match artist {
            Some(artist) => call.expression_attribute_values(":artist", text(artist)),
            None => call,
        };
        let answer = unless_refused(call.dispatch().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Uses a challenge up; `false` if it was used before. One write.
    pub async fn redeem(&self, challenge: &StoredChallenge) -> Result<bool, StoreError> {
        let key = rows::challenge(&challenge.hash).item();
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key));
        Ok(unless_refused(call.condition_expression("attribute_exists(pk)").dispatch().await)?.is_some())
    }

    pub(in crate::store) fn redemption(&self, challenge: &StoredChallenge) -> Result<TransactWriteItem, StoreError> {
        self.0.removal(&rows::challenge(&challenge.hash))
    }
}

fn hash(message: &str) -> String {
    alloy::hex::encode(Sha256::digest(message))
}
