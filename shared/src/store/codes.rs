//! Sign-in codes, one per mail address: only the newest counts. Rows: docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use super::table::{PrimaryKey, StoreError, Table, number, row, text, unless_refused};
use crate::model::{Email, OneTimeCode};

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
}

/// Open codes.
#[derive(Clone)]
pub struct Codes(Table);

impl Codes {
    /// Uses the secret table.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// Stores a code; replaces the address's previous one.
    pub async fn put(&self, email: &Email, code: &StoredCode) -> Result<(), StoreError> {
        let item = row(&key(email), code)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).send().await?;
        Ok(())
    }

    /// Counts a try and returns the code; `None` if there is none, it has expired or its tries are used up.
    pub async fn count_try(&self, email: &Email, now: u64) -> Result<Option<StoredCode>, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(key(email).item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression("tries < :max AND expires_at > :now")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(OneTimeCode::MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let answer = unless_refused(call.send().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Deletes a code; `false` if it was already used or replaced.
    pub async fn remove(&self, email: &Email, code: &StoredCode) -> Result<bool, StoreError> {
        let call = self
            .0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(key(email).item()))
            .condition_expression("mac = :mac")
            .expression_attribute_values(":mac", text(&code.mac));
        Ok(unless_refused(call.send().await)?.is_some())
    }
}

fn key(email: &Email) -> PrimaryKey {
    PrimaryKey::new(format!("CODE#{}", email.fingerprint()), "CODE")
}
