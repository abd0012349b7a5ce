//! Sign-in codes: one row per mail address, in the table of secrets.
//!
//! `pk = CODE#<SHA-256 of the address>`, `sk = CODE`. A new code takes the place of the last one, so only the newest
//! counts.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, number, row, text, unless_refused};
use crate::model::{Email, OneTimeCode};

/// What is kept of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCode {
    /// Authentication code over the address, the code and the time of issue, in hexadecimal digits.
    pub mac: String,
    /// Unix time in milliseconds.
    pub issued_at: u64,
    /// Unix time in seconds from which the code is worthless; the row is then deleted, in time.
    pub expires_at: u64,
    /// How often it was tried.
    pub tries: u32,
}

/// The codes that are out.
#[derive(Clone)]
pub struct Codes(Table);

impl Codes {
    /// The codes in the table of secrets.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// Keeps a code, in place of any earlier one for the address.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn put(&self, email: &Email, code: &StoredCode) -> Result<(), StoreError> {
        let item = row(&key(email), code)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).send().await?;
        Ok(())
    }

    /// Counts a try, then gives what there is to compare with. `None` when there is no code, it has expired or its
    /// tries are used up.
    ///
    /// # Errors
    /// When storage fails.
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

    /// Takes a code away, so that it can't be used. `false` when it was used, or another took its place, before.
    ///
    /// # Errors
    /// When storage fails.
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

fn key(email: &Email) -> Key {
    Key::new(format!("CODE#{}", email.fingerprint()), "CODE")
}
