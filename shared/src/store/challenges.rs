//! Messages that were handed out to be signed with a wallet: one row each, in the table of secrets.
//!
//! `pk = CHALLENGE#<SHA-256 of the message>`, `sk = CHALLENGE`. Nothing is read out of a message that comes back signed:
//! one that isn't word for word what was handed out has no row.

use std::time::Duration;

use aws_sdk_dynamodb::types::{Delete, ReturnValue, TransactWriteItem};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Key, StoreError, Table, number, row, text, unless_refused};
use crate::model::{Address, ArtistId, ChainId};

/// How long a message can be signed and brought back.
pub const CHALLENGE_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// How often a message can be brought back, signed right or wrong.
const MAX_TRIES: u32 = 5;

/// What is kept of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredChallenge {
    /// Its SHA-256, in hexadecimal digits.
    pub hash: String,
    /// Whom it was given to.
    pub artist_id: ArtistId,
    /// The wallet that is to sign it.
    pub wallet: Address,
    /// The chain that a contract wallet is on.
    pub chain: ChainId,
    /// Unix time in seconds from which it is worthless; the row is then deleted, in time.
    pub expires_at: u64,
    /// How often it came back.
    pub tries: u32,
}

/// The messages that are out.
#[derive(Clone)]
pub struct Challenges(Table);

impl StoredChallenge {
    /// What is to be kept of a message that is handed out at `now`, a Unix time in seconds.
    pub fn new(message: &str, artist_id: ArtistId, wallet: Address, chain: ChainId, now: u64) -> Self {
        let expires_at = now + CHALLENGE_LIFETIME.as_secs();
        Self { hash: hash(message), artist_id, wallet, chain, expires_at, tries: 0 }
    }
}

impl Challenges {
    /// The messages in the table of secrets.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// Keeps what belongs to a message. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn put(&self, challenge: &StoredChallenge) -> Result<(), StoreError> {
        let item = row(&key(&challenge.hash), challenge)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).send().await?;
        Ok(())
    }

    /// Counts that a message came back and gives what belongs to it. `None` when this artist was given no such message,
    /// or it was used, came back too often or has expired. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn count_try(
        &self,
        message: &str,
        artist: ArtistId,
        now: u64,
    ) -> Result<Option<StoredChallenge>, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(key(&hash(message)).item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression("artist_id = :artist AND tries < :max AND expires_at > :now")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":artist", text(artist))
            .expression_attribute_values(":max", number(MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let answer = unless_refused(call.send().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// The write that uses a message up; its transaction fails when it is used already.
    pub(super) fn redemption(&self, challenge: &StoredChallenge) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.0.name).set_key(Some(key(&challenge.hash).item()));
        let delete = delete.condition_expression("attribute_exists(pk)").build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }
}

fn hash(message: &str) -> String {
    alloy::hex::encode(Sha256::digest(message))
}

fn key(hash: &str) -> Key {
    Key::new(format!("CHALLENGE#{hash}"), "CHALLENGE")
}
