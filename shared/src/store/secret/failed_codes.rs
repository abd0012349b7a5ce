//! Wrong tries in a row for a mailbox or by a known device. Rows: docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use super::{devices, stopped_mails};
use crate::{
    aws::Dispatch,
    model::{DeviceId, Email},
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, row, unless_refused},
        secret::rows,
    },
};

/// Wrong tries in a row after which codes no longer work on unknown devices.
pub const MAX_FAILED_CODES: u32 = 100;

/// How long a mailbox and its wrong tries are remembered, in seconds.
const KEPT_FOR: u64 = 180 * 24 * 60 * 60;

/// What is known of a mailbox and of the device that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignInHistory {
    /// The mailbox has signed in before.
    pub is_known_mailbox: bool,
    /// It has signed in on this device.
    pub is_known_device: bool,
    /// So many wrong codes were tried that they no longer work on unknown devices.
    pub is_guessed_at: bool,
    /// Nothing is mailed to the address.
    pub is_stopped: bool,
}

/// Wrong tries at the codes of all mailboxes.
#[derive(Clone)]
pub struct FailedCodes(SecretTable);

#[derive(Deserialize)]
struct HistoryRow {
    pk: String,
    sk: String,
    #[serde(default)]
    wrong: u32,
    expires_at: u64,
}

#[derive(Serialize)]
struct KnownRow {
    expires_at: u64,
}

#[derive(Deserialize)]
struct Counted {
    wrong: u32,
}

impl SignInHistory {
    /// Whether codes work for who asks.
    pub fn takes_codes(self) -> bool {
        self.is_known_device || !self.is_guessed_at
    }
}

impl FailedCodes {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Returns what is known of an address's mailbox and of the device that asks. One read.
    pub async fn history(
        &self,
        email: &Email,
        device: Option<&DeviceId>,
        now: u64,
    ) -> Result<SignInHistory, StoreError> {
        let (streak, known, stopped) = (streak_key(email), known_key(email), stopped_mails::key(email));
        let device = device.map(|id| devices::key(email, id));
        let keys = [streak.clone(), known.clone(), stopped.clone()].into_iter().chain(device);
        let rows: Vec<HistoryRow> = self.0.get_many(keys).await?;
        let mut history = SignInHistory::default();
        for row in rows.into_iter().filter(|row| row.expires_at > now) {
            let is_over = row.wrong >= MAX_FAILED_CODES;
            if row.pk == stopped.pk {
                history.is_stopped = true;
            } else if row.pk != streak.pk {
                history.is_known_device = !is_over;
            } else if row.sk == known.sk {
                history.is_known_mailbox = true;
            } else {
                history.is_guessed_at = is_over;
            }
        }
        Ok(history)
    }

    /// Counts wrong tries, of a known device apart from strangers'; returns how many there were in a row. One write.
    pub async fn count_wrong(
        &self,
        email: &Email,
        device: Option<&DeviceId>,
        tries: u32,
        now: u64,
    ) -> Result<u32, StoreError> {
        let key = device.map_or_else(|| streak_key(email), |id| devices::key(email, id));
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call.expression_attribute_values(":tries", number(tries)).return_values(ReturnValue::UpdatedNew);
        let call = match device {
            Some(_) => call.update_expression("ADD wrong :tries").condition_expression("attribute_exists(pk)"),
            None => call
                .update_expression("SET expires_at = :end ADD wrong :tries")
                .expression_attribute_values(":end", number(now + KEPT_FOR)),
        };
        let counted = unless_refused(call.dispatch().await)?.and_then(|answer| answer.attributes);
        let counted: Option<Counted> = counted.map(serde_dynamo::from_item).transpose()?;
        Ok(counted.map_or(0, |counted| counted.wrong))
    }

    /// Ends the mailbox's streak of wrong tries, and remembers the mailbox. Two writes at once.
    pub async fn reset(&self, email: &Email, now: u64) -> Result<(), StoreError> {
        let table = &self.0;
        let delete = table.client.delete_item().table_name(&table.name).set_key(Some(streak_key(email).item()));
        let item = row(&known_key(email), &KnownRow { expires_at: now + KEPT_FOR })?;
        let put = table.client.put_item().table_name(&table.name).set_item(Some(item));
        let delete = async { delete.dispatch().await.map(drop).map_err(StoreError::from) };
        tokio::try_join!(delete, async { put.dispatch().await.map(drop).map_err(StoreError::from) })?;
        Ok(())
    }
}

fn streak_key(email: &Email) -> PrimaryKey {
    rows::wrong_codes(&email.mailbox())
}

fn known_key(email: &Email) -> PrimaryKey {
    rows::known_mailbox(&email.mailbox())
}
