//! What artists were asked to prove: by a mailed code, a wallet's signature or a passkey's answer, each for one act and
//! subject, once. Rows: docs/data-model.md, Passkeys.

use std::time::Duration;

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{AttributeValue, Delete, ReturnValue, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, ChainId, OneTimeCode, PasskeyId, ProofAct, ProofId, ProvenAct},
    store::{
        engine::table::{SecretTable, StoreError, number, row, text, unless_refused},
        secret::rows,
    },
};

/// How long a proof can be given and used.
pub const PROOF_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Stored part of a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredProof {
    /// Who asked, who alone can give and use it.
    pub artist_id: ArtistId,
    /// The act that it allows.
    pub act: ProofAct,
    /// What the act is about.
    pub subject: String,
    /// What is asked for.
    #[serde(flatten)]
    pub challenge: ProofChallenge,
    /// Time of issue, in Unix milliseconds.
    pub issued_at: u64,
    /// Number of tries so far.
    pub tries: u32,
    /// Whether it was given.
    pub proved: bool,
    /// Expiry, in Unix seconds; the row is deleted some time after.
    pub expires_at: u64,
}

/// What a proof asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "way", rename_all = "lowercase")]
pub enum ProofChallenge {
    /// A mailed code.
    Email {
        /// Hash of the address.
        email_hash: String,
        /// HMAC of the code, in hexadecimal.
        mac: String,
    },
    /// A wallet's signature.
    Wallet {
        /// The wallet.
        wallet: Address,
        /// Hash that it is to sign.
        message_hash: B256,
        /// Chain on which a contract is asked; none for a key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain: Option<ChainId>,
    },
    /// A passkey's answer.
    Passkey {
        /// State of the library that verifies it, as JSON.
        state: String,
        /// The passkey that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PasskeyId>,
    },
}

/// Proofs of all artists.
#[derive(Clone)]
pub struct Proofs(SecretTable);

impl StoredProof {
    /// A proof that is asked for at `now` (since the Unix epoch).
    pub fn new(artist_id: ArtistId, proven: &ProvenAct, challenge: ProofChallenge, now: Duration) -> Self {
        Self {
            artist_id,
            act: proven.act(),
            subject: proven.subject(),
            challenge,
            issued_at: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            tries: 0,
            proved: false,
            expires_at: (now + PROOF_LIFETIME).as_secs(),
        }
    }

    fn proves(&self, artist: ArtistId, proven: &ProvenAct, now: u64) -> bool {
        self.proved
            && self.expires_at > now
            && self.artist_id == artist
            && self.act == proven.act()
            && self.subject == proven.subject()
    }
}

impl Proofs {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a proof that was asked for. One write.
    pub async fn put(&self, id: ProofId, proof: &StoredProof) -> Result<(), StoreError> {
        let item = row(&rows::proof(id), proof)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Counts a try of the artist and returns the proof; `None` if it is unknown, another's, given, expired or out of tries.
    /// One write.
    pub async fn count_try(&self, id: ProofId, artist: ArtistId, now: u64) -> Result<Option<StoredProof>, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(rows::proof(id).item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression("artist_id = :artist AND proved = :no AND tries < :max AND expires_at > :now")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":artist", text(artist))
            .expression_attribute_values(":no", AttributeValue::Bool(false))
            .expression_attribute_values(":max", number(OneTimeCode::MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let answer = unless_refused(call.dispatch().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Notes that the proof was given, by a passkey or otherwise; `false` if it was given before, or has expired. One write.
    pub async fn give(&self, id: ProofId, by: Option<&PasskeyId>, now: u64) -> Result<bool, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(rows::proof(id).item()));
        let call = call
            .condition_expression("proved = :no AND expires_at > :now")
            .expression_attribute_values(":no", AttributeValue::Bool(false))
            .expression_attribute_values(":yes", AttributeValue::Bool(true))
            .expression_attribute_values(":now", number(now));
        let call = match by {
            Some(passkey) => call
                .update_expression("SET proved = :yes, #by = :by")
                .expression_attribute_names("#by", "by")
                .expression_attribute_values(":by", text(passkey)),
            None => call.update_expression("SET proved = :yes"),
        };
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }

    /// Returns a proof that the artist gave for exactly this. One read.
    pub async fn given(
        &self,
        id: ProofId,
        artist: ArtistId,
        proven: &ProvenAct,
        now: u64,
    ) -> Result<Option<StoredProof>, StoreError> {
        let stored: Option<StoredProof> = self.0.get(&rows::proof(id)).await?;
        Ok(stored.filter(|stored| stored.proves(artist, proven, now)))
    }

    /// Uses a given proof up; fails its transaction if it was used before.
    pub(in crate::store) fn redemption(&self, id: ProofId, now: u64) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::proof(id).item()))
            .condition_expression("proved = :yes AND expires_at > :now")
            .expression_attribute_values(":yes", AttributeValue::Bool(true))
            .expression_attribute_values(":now", number(now));
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::table::Item;

    #[test]
    fn proof_is_of_one_artist_act_and_subject_and_comes_back_from_its_row() {
        let (artist, one, other) = (ArtistId::random(), PasskeyId::of(b"one"), PasskeyId::of(b"other"));
        let removal = ProvenAct::RemovePasskey(one.clone());
        let wallet: Address = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap();
        for challenge in [
            ProofChallenge::Email { email_hash: "aa".to_owned(), mac: "bb".to_owned() },
            ProofChallenge::Wallet { wallet, message_hash: B256::repeat_byte(7), chain: Some(ChainId(8453)) },
            ProofChallenge::Wallet { wallet, message_hash: B256::repeat_byte(7), chain: None },
            ProofChallenge::Passkey { state: "{}".to_owned(), by: Some(other.clone()) },
        ] {
            let asked = StoredProof::new(artist, &removal, challenge, Duration::from_secs(1_000));
            assert!(!asked.proves(artist, &removal, 1_000), "it wasn't given");
            let given = StoredProof { proved: true, ..asked };
            assert!(given.proves(artist, &removal, 1_599));
            assert!(!given.proves(artist, &removal, 1_600), "it has expired");
            assert!(!given.proves(ArtistId::random(), &removal, 1_000));
            assert!(!given.proves(artist, &ProvenAct::RemovePasskey(other.clone()), 1_000));
            assert!(!given.proves(artist, &ProvenAct::KeepPasskey(one.clone()), 1_000));
            let item: Item = row(&rows::proof(ProofId::random()), &given).unwrap();
            assert_eq!(serde_dynamo::from_item::<_, StoredProof>(item).unwrap(), given);
        }
    }
}
