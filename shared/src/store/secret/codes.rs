//! Sign-in codes. A code with a nonce stands alone; without one it is kept for the client that asked, and as the address's
//! newest, for a person who asks on one device and signs in on another. Rows: docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{Email, OneTimeCode},
    store::engine::table::{PrimaryKey, SecretTable, StoreError, number, row, text, unless_refused},
};

/// Stored part of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCode {
    /// HMAC of address, code and time of issue, in hexadecimal.
    pub mac: String,
    /// Time of issue, in Unix milliseconds.
    pub issued_at: u64,
    /// Expiry, in Unix seconds; the row is deleted some time after.
    pub expires_at: u64,
    /// Number of tries so far.
    pub tries: u32,
    /// Whom it is for.
    pub holder: CodeHolder,
}

/// Who asked for a code, as a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeHolder {
    /// Whoever has the nonce.
    Nonce(String),
    /// A client's network.
    Client(String),
}

/// Open codes.
#[derive(Clone)]
pub struct Codes(SecretTable);

impl Codes {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a code; replaces the holder's previous one. One write, or two.
    pub async fn put(&self, email: &Email, code: &StoredCode) -> Result<(), StoreError> {
        self.put_at(&held(email, &code.holder), code).await?;
        match code.holder {
            CodeHolder::Nonce(_) => Ok(()),
            CodeHolder::Client(_) => self.put_at(&newest(email), code).await,
        }
    }

    async fn put_at(&self, key: &PrimaryKey, code: &StoredCode) -> Result<(), StoreError> {
        let item = row(key, code)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Counts a try and returns the holder's code, or else for a client the address's newest; `None` if there is none, it
    /// has expired or its tries are used up. Tries of one client don't count for another that asked for a code itself.
    pub async fn count_try(
        &self,
        email: &Email,
        holder: &CodeHolder,
        now: u64,
    ) -> Result<Option<StoredCode>, StoreError> {
        let own = held(email, holder);
        if let CodeHolder::Client(_) = holder {
            let asked: Option<StoredCode> = self.0.get(&own).await?;
            if asked.is_none_or(|asked| asked.expires_at <= now) {
                return self.count_at(&newest(email), now).await;
            }
        }
        self.count_at(&own, now).await
    }

    async fn count_at(&self, key: &PrimaryKey, now: u64) -> Result<Option<StoredCode>, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression("tries < :max AND expires_at > :now")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(OneTimeCode::MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let answer = unless_refused(call.dispatch().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Deletes a code; `false` if it was already used or replaced. One write, or two.
    pub async fn remove(&self, email: &Email, code: &StoredCode) -> Result<bool, StoreError> {
        let is_removed = self.remove_at(&held(email, &code.holder), code).await?;
        if let CodeHolder::Client(_) = code.holder {
            self.remove_at(&newest(email), code).await?;
        }
        Ok(is_removed)
    }

    async fn remove_at(&self, key: &PrimaryKey, code: &StoredCode) -> Result<bool, StoreError> {
        let call = self
            .0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .condition_expression("mac = :mac")
            .expression_attribute_values(":mac", text(&code.mac));
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }
}

fn held(email: &Email, holder: &CodeHolder) -> PrimaryKey {
    let address = email.fingerprint();
    match holder {
        CodeHolder::Nonce(hash) => PrimaryKey::new(format!("CODE#{address}"), format!("NONCE#{hash}")),
        CodeHolder::Client(hash) => PrimaryKey::new(format!("CODE#{address}"), format!("CLIENT#{hash}")),
    }
}

fn newest(email: &Email) -> PrimaryKey {
    PrimaryKey::new(format!("CODE#{}", email.fingerprint()), "CODE")
}
