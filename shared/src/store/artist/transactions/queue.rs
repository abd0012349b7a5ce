//! Transactions that aren't final, by chain and turn. Turns make artists alternate, and rise for each artist.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::{
    account::AccountState,
    transaction::{Transaction, Transactions},
};
use crate::{
    aws::Dispatch,
    model::{ArtistId, ChainId, ConcurrencyKey, TransactionId, WriteKind},
    store::{
        artist::rows,
        engine::table::{StoreError, number, row, text, updating},
    },
};

/// Milliseconds that each of an artist's waiting transactions puts off the next one.
const HANDICAP: u64 = 2_000;

/// Comes before every place.
const START: &str = "0";

/// A transaction in the queue, with what decides whether it fits into a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// Place in the queue.
    #[serde(rename = "sk", skip_serializing)]
    pub place: String,
    /// The queue that it was put into: what it may do at most.
    #[serde(skip)]
    pub kind: WriteKind,
    /// The artist.
    pub artist_id: ArtistId,
    /// The transaction.
    pub transaction_id: TransactionId,
    /// What no two batches may read or change at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<ConcurrencyKey>,
    /// When it ends unsent, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<u64>,
    /// Most transactions in its batch, after one reverted as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_batch_len: Option<usize>,
    /// Block before which it isn't packed again, after somebody else's token came first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<u64>,
    /// Hash of the plan that was queued; no plan has that of a row that lacks it.
    #[serde(default)]
    pub plan_hash: String,
}

impl Queued {
    /// Whether its time is over, given the Unix time in seconds: it only ends.
    pub fn is_late(&self, now: u64) -> bool {
        self.valid_until.is_some_and(|until| until <= now)
    }

    /// Whether a transaction's row is what was queued: functions that queue transactions of one kind may put a row over
    /// that of another.
    pub fn is_of(&self, row: &Transaction) -> bool {
        self.artist_id == row.artist_id && self.plan_hash == row.plan.hash()
    }
}

impl Transaction {
    /// Its row in the queue.
    pub(super) fn queued(&self) -> Queued {
        Queued {
            place: self.place.clone(),
            kind: self.kind,
            artist_id: self.artist_id,
            transaction_id: self.id,
            concurrency_key: self.plan.concurrency_key(),
            valid_until: self.valid_until,
            max_batch_len: None,
            not_before: None,
            plan_hash: self.plan.hash().to_owned(),
        }
    }
}

/// The turn after the account's last one, in Unix milliseconds.
pub(super) fn next_turn(account: &AccountState, now: u64) -> u64 {
    (now + u64::from(account.waiting) * HANDICAP).max(account.last_turn + 1)
}

pub(super) fn place(turn: u64, artist: ArtistId, id: TransactionId) -> String {
    format!("{turn:014}#{artist}#{id}")
}

impl Transactions {
    /// The first `limit` transactions in a chain's queues, also those in a batch. One Query per queue and megabyte.
    pub async fn queued(&self, chain: ChainId, limit: usize) -> Result<Vec<Queued>, StoreError> {
        self.queued_after(chain, START, limit).await
    }

    /// The same of those after a place.
    pub async fn queued_after(&self, chain: ChainId, place: &str, limit: usize) -> Result<Vec<Queued>, StoreError> {
        let queues = try_join_all(WriteKind::ALL.map(|kind| self.queued_of(chain, kind, place, limit))).await?;
        let mut queued: Vec<_> = queues.into_iter().flatten().collect();
        queued.sort_unstable_by(|one, other| one.place.cmp(&other.place));
        queued.truncate(limit);
        Ok(queued)
    }

    async fn queued_of(
        &self,
        chain: ChainId,
        kind: WriteKind,
        place: &str,
        limit: usize,
    ) -> Result<Vec<Queued>, StoreError> {
        let (mut queued, mut start) = (Vec::new(), None);
        loop {
            let answer = self
                .table
                .client
                .query()
                .table_name(&self.table.name)
                .key_condition_expression("pk = :pk AND sk > :place")
                .expression_attribute_values(":pk", text(rows::queue(chain, kind)))
                .expression_attribute_values(":place", text(place))
                .consistent_read(true)
                .limit(i32::try_from(limit - queued.len()).unwrap_or(i32::MAX))
                .set_exclusive_start_key(start)
                .dispatch()
                .await?;
            let rows: Vec<Queued> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
            queued.extend(rows.into_iter().map(|row| Queued { kind, ..row }));
            start = answer.last_evaluated_key;
            if start.is_none() || queued.len() >= limit {
                return Ok(queued);
            }
        }
    }

    /// Takes a row from the queue whose transaction is over. One write.
    pub async fn forget(&self, chain: ChainId, queued: &Queued) -> Result<(), StoreError> {
        self.table.write_together(vec![self.dequeue(chain, queued.kind, &queued.place)?]).await.map(drop)
    }

    /// Wakes the relay by the table's stream. One write.
    pub async fn wake(&self, chain: ChainId, now: u64) -> Result<(), StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(rows::queue_wake(chain).item()))
            .update_expression("SET woken_at = :now ADD calls :one")
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":one", number(1));
        let wake = updating(update)?;
        self.table.write_together(vec![wake]).await.map(drop)
    }

    /// A transaction's row in the queue as it is. Where there is none, nothing says what was queued: no plan has the hash of
    /// what is returned. One read.
    pub(super) async fn queued_row(&self, transaction: &Transaction) -> Result<Queued, StoreError> {
        let Transaction { chain, kind, ref place, .. } = *transaction;
        let found: Option<Queued> = self.table.get(&rows::queued(chain, kind, place)).await?;
        Ok(match found {
            Some(queued) => Queued { kind, ..queued },
            None => Queued { plan_hash: String::new(), ..transaction.queued() },
        })
    }

    pub(super) fn enqueue(&self, chain: ChainId, queued: &Queued) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder()
            .table_name(&self.table.name)
            .set_item(Some(row(&rows::queued(chain, queued.kind, &queued.place), queued)?));
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }

    pub(super) fn dequeue(
        &self,
        chain: ChainId,
        kind: WriteKind,
        place: &str,
    ) -> Result<TransactWriteItem, StoreError> {
        self.table.deletion(&rows::queued(chain, kind, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_rise_when_the_clock_goes_back() {
        let mut account = AccountState::default();
        let mut last = 0;
        for now in [1_000_000, 1_000_000, 940_000, 1_000_001] {
            let turn = next_turn(&account, now);
            assert!(turn > last);
            last = turn;
            account = AccountState { waiting: account.waiting + 1, last_turn: turn, ..account };
        }
    }

    #[test]
    fn artist_with_a_long_queue_is_overtaken() {
        let busy = AccountState { waiting: 10, last_turn: 1_000_000, ..AccountState::default() };
        assert!(next_turn(&AccountState::default(), 1_000_500) < next_turn(&busy, 1_000_001));
    }
}
