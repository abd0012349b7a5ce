//! Addresses that nothing is mailed to. Rows: docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::{ConditionCheck, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::Email,
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, row},
        secret::rows,
    },
};

/// How long an address is stopped, in seconds: by then a full or wrongly closed mailbox may be open again.
const STOPPED_FOR: u64 = 30 * 24 * 60 * 60;

/// Addresses whose mails came back or were called spam.
#[derive(Clone)]
pub struct StoppedMails(SecretTable);

#[derive(Serialize, Deserialize)]
struct StoppedRow {
    expires_at: u64,
}

impl StoppedMails {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stops an address from `now` on (Unix seconds). One write.
    pub async fn stop(&self, email: &Email, now: u64) -> Result<(), StoreError> {
        let item = row(&key(email), &StoppedRow { expires_at: now + STOPPED_FOR })?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Returns whether an address is stopped at `now` (Unix seconds). One read.
    pub async fn is_stopped(&self, email: &Email, now: u64) -> Result<bool, StoreError> {
        let stopped: Option<StoppedRow> = self.0.get(&key(email)).await?;
        Ok(stopped.is_some_and(|stopped| stopped.expires_at > now))
    }

    /// Fails its transaction if an address is stopped at `now` (Unix seconds).
    pub(in crate::store) fn not_stopped(&self, email: &Email, now: u64) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.0.name)
            .set_key(Some(key(email).item()))
            .condition_expression("attribute_not_exists(pk) OR expires_at <= :now")
            .expression_attribute_values(":now", number(now));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }
}

pub(super) fn key(email: &Email) -> PrimaryKey {
    rows::stopped_mails(&email.fingerprint())
}
