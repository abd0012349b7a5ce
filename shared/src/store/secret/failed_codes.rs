//! Wrong tries in a row for a mailbox, and the clients that it signed in from. Rows: docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    store::engine::table::{PrimaryKey, SecretTable, StoreError, number, row},
};

/// Wrong tries in a row after which strangers must pause.
pub const MAX_FAILED_CODES: u32 = 100;

/// How long a client is known after a sign-in, in seconds.
const KNOWN_FOR: u64 = 180 * 24 * 60 * 60;

const ANY: &str = "ANY";

/// What is known of a mailbox and a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignInHistory {
    /// The mailbox has signed in before.
    pub is_known_mailbox: bool,
    /// It has signed in from this client.
    pub is_known_client: bool,
    /// Until when clients that it didn't sign in from must pause, in Unix seconds.
    pub pause_until: u64,
}

/// FailedCodes at the codes of all mailboxes. Mailboxes and clients are hashes.
#[derive(Clone)]
pub struct FailedCodes(SecretTable);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum FailedCodeRow {
    Streak { wrong: u32, wrong_at: u64 },
    Known { client: String, expires_at: u64 },
}

impl FailedCodes {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Returns what is known of a mailbox and a client. One read.
    pub async fn history(&self, mailbox: &str, client: &str, now: u64) -> Result<SignInHistory, StoreError> {
        let keys = [streak_key(mailbox), known_key(mailbox, client), known_key(mailbox, ANY)];
        let rows: Vec<FailedCodeRow> = self.0.get_many(keys).await?;
        let mut history = SignInHistory::default();
        for row in rows {
            match row {
                FailedCodeRow::Streak { wrong, wrong_at } => history.pause_until = wrong_at + pause(wrong),
                FailedCodeRow::Known { expires_at, .. } if expires_at <= now => {}
                FailedCodeRow::Known { client: known, .. } if known == ANY => history.is_known_mailbox = true,
                FailedCodeRow::Known { .. } => history.is_known_client = true,
            }
        }
        Ok(history)
    }

    /// Counts a wrong try; returns how many there were in a row. One write.
    pub async fn count_wrong(&self, mailbox: &str, now: u64) -> Result<u32, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(streak_key(mailbox).item()));
        let call = call.update_expression("SET wrong_at = :now, expires_at = :end ADD wrong :one");
        let call = call.expression_attribute_values(":now", number(now)).expression_attribute_values(":one", number(1));
        let call = call.expression_attribute_values(":end", number(now + 10 * KNOWN_FOR));
        let answer = call.return_values(ReturnValue::AllNew).dispatch().await?;
        let row: Option<FailedCodeRow> = answer.attributes.map(serde_dynamo::from_item).transpose()?;
        Ok(match row {
            Some(FailedCodeRow::Streak { wrong, .. }) => wrong,
            _ => 0,
        })
    }

    /// Ends the streak of wrong tries, and remembers the client. Three writes.
    pub async fn reset_failures(&self, mailbox: &str, client: &str, now: u64) -> Result<(), StoreError> {
        let table = &self.0;
        table.client.delete_item().table_name(&table.name).set_key(Some(streak_key(mailbox).item())).dispatch().await?;
        for client in [client, ANY] {
            let known = FailedCodeRow::Known { client: client.to_owned(), expires_at: now + KNOWN_FOR };
            let item = row(&known_key(mailbox, client), &known)?;
            table.client.put_item().table_name(&table.name).set_item(Some(item)).dispatch().await?;
        }
        Ok(())
    }
}

/// Seconds for which strangers pause: none up to the limit, then a minute, doubled with every five further tries up to a
/// day.
fn pause(wrong: u32) -> u64 {
    match wrong.checked_sub(MAX_FAILED_CODES) {
        None => 0,
        Some(over) => (60_u64 << (over / 5).min(11)).min(24 * 60 * 60),
    }
}

fn streak_key(mailbox: &str) -> PrimaryKey {
    PrimaryKey::new(format!("GUESSES#{mailbox}"), "STREAK")
}

fn known_key(mailbox: &str, client: &str) -> PrimaryKey {
    PrimaryKey::new(format!("GUESSES#{mailbox}"), format!("KNOWN#{client}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_a_minute_to_a_day() {
        let pauses = [0, 99, 100, 104, 105, 110, 160, 1_000].map(pause);
        assert_eq!(pauses, [0, 0, 60, 60, 120, 240, 86_400, 86_400]);
    }
}
