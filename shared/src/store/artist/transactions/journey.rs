//! A transaction's way from the queue to its end. Each step holds only from the statuses that
//! [`TransactionStatus::may_become`] names, so that steps may be repeated. `false` means that the status has changed.

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{TransactWriteItem, Update, builders::UpdateBuilder};
use serde_json::{Map, Value};

use super::{
    account::account_key,
    batch::MinedIn,
    lease::Lease,
    queue::Queued,
    transaction::{BatchReference, Transaction, Transactions, transaction_key},
};
use crate::{
    model::{ArtistId, TransactionId, TransactionStatus},
    store::{
        artist::service_events::ServiceEvents,
        engine::table::{StoreError, WriteReason, backoff, number, status_in, text, updating},
    },
};

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// `Mined`, `Reverted` or `Failed`.
    pub status: TransactionStatus,
    /// The batch that decided it; `None` if none did.
    pub batch: Option<BatchReference>,
    /// Its share of the block's inclusion.
    pub mined: Option<MinedIn>,
    /// Hashes that its batch was sent with.
    pub hashes: Vec<B256>,
    /// Why nothing was done, in words.
    pub reason: Option<String>,
    /// What it created, as its answer names it.
    pub result: Map<String, Value>,
    /// What it cost, in wei, earlier attempts aside.
    pub wei: u64,
    /// Whether its account is known to be deployed now.
    pub deployed: bool,
}

impl Ending {
    /// The ending of a transaction that no block has, and that isn't sent any more.
    pub fn given_up(transaction: &Transaction, reason: &str) -> Self {
        // A block may still have what was sent.
        let is_unsent = transaction.hashes.is_empty();
        let status = if is_unsent { TransactionStatus::Failed } else { TransactionStatus::Reverted };
        Self::without_block(status, reason)
    }

    fn without_block(status: TransactionStatus, reason: &str) -> Self {
        Self {
            status,
            batch: None,
            mined: None,
            hashes: Vec::new(),
            reason: Some(reason.to_owned()),
            result: Map::new(),
            wei: 0,
            deployed: false,
        }
    }
}

/// How a transaction returns to the queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requeue<'a> {
    /// Most transactions of its next batch.
    pub max_batch_len: Option<usize>,
    /// Block before which it isn't packed again.
    pub not_before: Option<u64>,
    /// The batch that had it, and its share of that batch's cost in wei.
    pub attempt: Option<(BatchReference, u64)>,
    /// Hashes that this batch was sent with: a block may still have one of them.
    pub hashes: &'a [B256],
}

/// Whose decision ends a transaction.
#[derive(Clone, Copy)]
enum Decision<'a> {
    /// Its batch's, which publishes the events of all its transactions when it is closed or settled.
    Batch,
    /// The same, of the leader alone.
    LedBatch(&'a Lease),
    /// The leader's.
    Leader(&'a Lease),
    /// Its artist's.
    Artist,
}

impl Transactions {
    /// Records the batch that carries a transaction, and the newest hash that it is sent with. One write.
    pub async fn mark_sent(
        &self,
        transaction: &Transaction,
        batch: BatchReference,
        hash: B256,
        now: u64,
    ) -> Result<bool, StoreError> {
        let Some(update) = self.step(transaction, TransactionStatus::Sent) else { return Ok(false) };
        let update = update
            .update_expression(
                "SET #status = :status, #batch = :batch, hashes = list_append(hashes, :hashes), updated_at = :now",
            )
            .expression_attribute_names("#batch", "batch")
            .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
            .expression_attribute_values(":hashes", serde_dynamo::to_attribute_value([hash])?)
            .expression_attribute_values(":now", number(now));
        self.table.write_together(vec![updating(update)?]).await
    }

    /// Puts a transaction back into the queue, where it keeps its place. Its share of a batch's cost is recorded once,
    /// corrected if that changes, and charged when it ends. A read and a write.
    pub async fn requeue(
        &self,
        transaction: &Transaction,
        Requeue { max_batch_len, not_before, attempt, hashes }: Requeue<'_>,
        now: u64,
    ) -> Result<bool, StoreError> {
        let Some(update) = self.step(transaction, TransactionStatus::Queued) else { return Ok(false) };
        let mut set = "SET #status = :status, updated_at = :now".to_owned();
        let mut update = update.expression_attribute_values(":now", number(now));
        let hashes: Vec<_> = hashes.iter().filter(|hash| !transaction.hashes.contains(hash)).collect();
        if !hashes.is_empty() {
            set.push_str(", hashes = list_append(hashes, :hashes)");
            update = update.expression_attribute_values(":hashes", serde_dynamo::to_attribute_value(hashes)?);
        }
        let update = match attempt {
            None => update
                .update_expression(format!("{set} ADD attempts :one"))
                .expression_attribute_values(":one", number(1)),
            Some((batch, wei)) => recording_try(update, transaction, batch, wei)?
                .update_expression(format!(
                    "{set}, {TRY}, attempts = :attempts, last_attempt = :batch, last_attempt_wei = :last"
                ))
                .expression_attribute_values(":attempts", number(transaction.attempts_before(batch) + 1))
                .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
                .expression_attribute_values(":last", number(wei)),
        };
        let queued = Queued { max_batch_len, not_before, ..self.queued_row(transaction).await? };
        self.table.write_together(vec![updating(update)?, self.enqueue(transaction.chain, &queued)?]).await
    }

    /// Corrects what an attempt in a batch cost a transaction that another batch has, or has decided. What is over is
    /// charged for it. One write; none if that is known. Fails if the transaction has changed since it was read.
    pub async fn correct_try(
        &self,
        transaction: &Transaction,
        batch: BatchReference,
        wei: u64,
    ) -> Result<(), StoreError> {
        let added = i128::from(transaction.cost_with(batch, wei)) - i128::from(transaction.attempts_wei);
        if added == 0 {
            return Ok(());
        }
        let is_over = transaction.status.is_final();
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(transaction_key(transaction.artist_id, transaction.id).item()));
        let alike = TransactionStatus::ALL.into_iter().filter(|status| status.is_final() == is_over);
        let (update, condition) = status_in(update, alike.map(TransactionStatus::word));
        let mut update = recording_try(update.condition_expression(condition), transaction, batch, wei)?;
        let mut set = format!("SET {TRY}");
        if is_over {
            set.push_str(", charge.wei = :charged");
            let charged = i128::from(transaction.charge.wei) + added;
            let condition = update.get_condition_expression().clone().unwrap_or_default();
            update = update
                .condition_expression(format!("{condition} AND charge.wei = :known"))
                .expression_attribute_values(":known", number(transaction.charge.wei))
                .expression_attribute_values(":charged", number(charged));
        }
        let correction = updating(update.update_expression(set))?;
        let mut same_day = true;
        for attempt in 0..ATTEMPTS {
            let mut writes = vec![correction.clone()];
            if is_over {
                writes.push(self.leave_account(transaction, false, same_day.then_some(added))?);
                writes.push(self.correct_pool(transaction.chain, &transaction.charge, added)?);
            }
            let Err(reasons) = self.table.write_or_reasons(writes).await? else { return Ok(()) };
            let failed = |at: usize| reasons.get(at).is_some_and(|reason| reason.is_condition());
            if failed(0) {
                break;
            }
            if failed(1) {
                // The account's budget is another day's by now.
                same_day = false;
            } else {
                tokio::time::sleep(backoff(attempt)).await;
            }
        }
        Err(StoreError::Contention("a transaction's attempts"))
    }

    /// Ends a transaction: takes it from the queue, and gives back what it reserved beyond its cost, and its outlay on
    /// the same day if it is never sent. Ending it again, as after a reorganisation, corrects what is known of it and its
    /// cost. One write.
    pub async fn end(&self, transaction: &Transaction, ending: &Ending, now: u64) -> Result<bool, StoreError> {
        self.end_by(Decision::Batch, transaction, ending, now).await
    }

    /// The same for the leader alone, as long as the ending's batch is the last that has the transaction: another leader
    /// may have found another ending in another block, or have sent it again.
    pub async fn end_led(
        &self,
        lease: &Lease,
        transaction: &Transaction,
        ending: &Ending,
        now: u64,
    ) -> Result<bool, StoreError> {
        self.end_by(Decision::LedBatch(lease), transaction, ending, now).await
    }

    /// Ends a transaction that no batch carries, or none that its lane has, for the leader alone: another leader may
    /// have sent it meanwhile. Stores the event, too. One write, and a read.
    pub async fn give_up(
        &self,
        lease: &Lease,
        transaction: &Transaction,
        ending: &Ending,
        now: u64,
    ) -> Result<bool, StoreError> {
        self.end_by(Decision::Leader(lease), transaction, ending, now).await
    }

    /// Ends a transaction that its artist takes back, if it was never sent, with its event. One write, and a read.
    pub async fn cancel(&self, transaction: &Transaction, now: u64) -> Result<bool, StoreError> {
        let ending = Ending::without_block(TransactionStatus::Cancelled, "It was cancelled before it was sent");
        self.end_by(Decision::Artist, transaction, &ending, now).await
    }

    /// Adds the reason of a transaction that a batch, in the block with this hash, left undone; `false` if it is over
    /// in another way by now, or has another reason than `unexplained`. One write.
    pub async fn explain(
        &self,
        (artist, id): (ArtistId, TransactionId),
        (batch, block): (BatchReference, B256),
        (unexplained, reason): (&str, &str),
        now: u64,
    ) -> Result<bool, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(transaction_key(artist, id).item()))
            .condition_expression(
                "#status = :reverted AND #batch = :batch AND mined.block_hash = :block AND reason = :unexplained",
            )
            .update_expression("SET reason = :reason, updated_at = :now")
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#batch", "batch")
            .expression_attribute_values(":reverted", text(TransactionStatus::Reverted.word()))
            .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
            .expression_attribute_values(":block", serde_dynamo::to_attribute_value(block)?)
            .expression_attribute_values(":unexplained", text(unexplained))
            .expression_attribute_values(":reason", text(reason))
            .expression_attribute_values(":now", number(now));
        self.table.write_together(vec![updating(update)?]).await
    }

    async fn end_by(
        &self,
        decision: Decision<'_>,
        transaction: &Transaction,
        ending: &Ending,
        now: u64,
    ) -> Result<bool, StoreError> {
        let Some(conclusion) = self.conclusion(decision, transaction, ending, now)? else { return Ok(false) };
        let gives_back = matches!(ending.status, TransactionStatus::Failed | TransactionStatus::Cancelled);
        let mut outlay = if gives_back { self.return_outlay(transaction, now)? } else { None };
        let mut same_day = true;
        for attempt in 0..ATTEMPTS {
            let refund = i128::from(cost(transaction, ending)) - i128::from(transaction.charge.wei);
            let mut writes = vec![
                conclusion.clone(),
                self.leave_account(transaction, ending.deployed, same_day.then_some(refund))?,
                self.correct_pool(transaction.chain, &transaction.charge, refund)?,
            ];
            if !transaction.status.is_final() {
                writes.push(self.dequeue(transaction.chain, transaction.kind, &transaction.place)?);
            }
            let own = writes.len();
            writes.extend(outlay.clone());
            let lease_at = writes.len();
            if let Decision::Leader(lease) | Decision::LedBatch(lease) = decision {
                writes.push(self.condition(lease)?);
            }
            let before_event = writes.len();
            if matches!(decision, Decision::Leader(_) | Decision::Artist) {
                let event = transaction.outcome_event(ending, now);
                writes.extend(ServiceEvents::new(self.table.clone()).appending(&[event], now).await?);
            }
            let Err(reasons) = self.table.write_or_reasons(writes).await? else { return Ok(true) };
            let failed = |at: Option<&WriteReason>| at.is_some_and(|reason| reason.is_condition());
            if failed(reasons.first()) || (lease_at < before_event && failed(reasons.get(lease_at))) {
                return Ok(false);
            }
            // The account's budget is another day's by now.
            let is_over = reasons.iter().take(own).any(|reason| reason.is_condition());
            // The count doesn't have as much, or was erased.
            let is_gone = own < lease_at && failed(reasons.get(own));
            if is_gone {
                outlay = None;
            }
            same_day &= !is_over;
            if !is_over && !is_gone {
                tokio::time::sleep(backoff(attempt)).await;
            }
        }
        Err(StoreError::Contention("a transaction's rows"))
    }

    fn conclusion(
        &self,
        decision: Decision<'_>,
        transaction: &Transaction,
        ending: &Ending,
        now: u64,
    ) -> Result<Option<TransactWriteItem>, StoreError> {
        let Some(update) = self.step(transaction, ending.status) else { return Ok(None) };
        let mut hashes = transaction.hashes.clone();
        hashes.extend(ending.hashes.iter().filter(|hash| !transaction.hashes.contains(hash)));
        let mut set = vec![
            "#status = :status",
            "charge.wei = :wei",
            "updated_at = :now",
            "#result = :result",
            "hashes = :hashes",
        ];
        let mut update = update
            .expression_attribute_names("#result", "result")
            .expression_attribute_values(":wei", number(cost(transaction, ending)))
            .expression_attribute_values(":hashes", serde_dynamo::to_attribute_value(hashes)?)
            .expression_attribute_values(":result", serde_dynamo::to_attribute_value(&ending.result)?)
            .expression_attribute_values(":now", number(now));
        let mut remove = Vec::new();
        if let Some((former, wei)) = superseded(transaction, ending) {
            set.push(TRY);
            update = with_try(update, transaction, former, wei)?;
        }
        if let Some(batch) = ending.batch {
            set.push("#batch = :batch");
            update = update.expression_attribute_names("#batch", "batch");
            update = update.expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?);
            if matches!(decision, Decision::LedBatch(_)) {
                let condition = update.get_condition_expression().clone().unwrap_or_default();
                update = update.condition_expression(format!("{condition} AND #batch = :batch"));
            }
        }
        match ending.mined {
            Some(mined) => {
                set.push("mined = :mined");
                update = update.expression_attribute_values(":mined", serde_dynamo::to_attribute_value(mined)?);
            }
            None => remove.push("mined"),
        }
        match &ending.reason {
            Some(reason) => {
                set.push("reason = :reason");
                update = update.expression_attribute_values(":reason", text(reason));
            }
            None => remove.push("reason"),
        }
        let mut expression = format!("SET {}", set.join(", "));
        if !remove.is_empty() {
            expression = format!("{expression} REMOVE {}", remove.join(", "));
        }
        updating(update.update_expression(expression)).map(Some)
    }

    fn leave_account(
        &self,
        transaction: &Transaction,
        deployed: bool,
        refund: Option<i128>,
    ) -> Result<TransactWriteItem, StoreError> {
        let key = account_key(transaction.artist_id, transaction.chain);
        let mut update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .expression_attribute_values(":less", number(if transaction.status.is_final() { 0 } else { -1 }));
        let mut expression = String::new();
        if deployed {
            expression.push_str("SET deployed = :yes ");
            update = update.expression_attribute_values(":yes", aws_sdk_dynamodb::types::AttributeValue::Bool(true));
        }
        expression.push_str("ADD waiting :less");
        if let Some(wei) = refund {
            expression.push_str(", spent :wei");
            update = update
                .condition_expression("#day = :day")
                .expression_attribute_names("#day", "day")
                .expression_attribute_values(":day", number(transaction.charge.day))
                .expression_attribute_values(":wei", number(wei));
        }
        updating(update.update_expression(expression))
    }

    /// An update of a transaction whose status may become `next`; `None` if no status like its own may.
    pub(super) fn step(&self, transaction: &Transaction, next: TransactionStatus) -> Option<UpdateBuilder> {
        let key = transaction_key(transaction.artist_id, transaction.id);
        // A final transaction is corrected as such, so that it isn't taken out of the queue twice.
        let is_like = |status: &TransactionStatus| status.is_final() == transaction.status.is_final();
        let before = TransactionStatus::ALL.into_iter().filter(|status| status.may_become(next)).filter(is_like);
        let mut before = before.map(TransactionStatus::word).peekable();
        before.peek()?;
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .expression_attribute_values(":status", text(next.word()));
        let (mut update, mut condition) = status_in(update, before);
        if matches!(next, TransactionStatus::Failed | TransactionStatus::Cancelled) {
            // An earlier batch may still get into a block.
            condition.push_str(" AND size(hashes) = :unsent");
            update = update.expression_attribute_values(":unsent", number(0));
        }
        if transaction.status.is_final() {
            // Its cost is corrected once.
            condition.push_str(" AND charge.wei = :known");
            update = update.expression_attribute_values(":known", number(transaction.charge.wei));
        }
        Some(update.condition_expression(condition))
    }
}

/// What a transaction costs with its attempts, in wei.
fn cost(transaction: &Transaction, ending: &Ending) -> u64 {
    let Some(batch) = ending.batch else { return ending.wei.saturating_add(transaction.attempts_wei) };
    match superseded(transaction, ending) {
        Some(_) => {
            let known = transaction.known(batch).unwrap_or_default();
            transaction.charge.wei.saturating_sub(known).saturating_add(ending.wei)
        }
        None => transaction.cost_with(batch, ending.wei),
    }
}

/// The batch that decided a transaction which another one decides now, and its share in wei: an attempt, after all.
fn superseded(transaction: &Transaction, ending: &Ending) -> Option<(BatchReference, u64)> {
    let former = transaction.batch.filter(|_| transaction.status.is_final())?;
    let is_other = ending.batch.is_some_and(|batch| batch != former);
    is_other.then(|| (former, transaction.charge.wei.saturating_sub(transaction.cost_with(former, 0))))
}

/// Sets what [`with_try`] names.
const TRY: &str = "tries = :tries, attempts_wei = :tries_wei";

/// What a batch cost a transaction that it gave no outcome.
fn with_try(
    update: UpdateBuilder,
    transaction: &Transaction,
    batch: BatchReference,
    wei: u64,
) -> Result<UpdateBuilder, StoreError> {
    let mut tries = transaction.tries.clone();
    tries.insert(batch.to_string(), wei);
    Ok(update
        .expression_attribute_values(":tries", serde_dynamo::to_attribute_value(tries)?)
        .expression_attribute_values(":tries_wei", number(transaction.cost_with(batch, wei))))
}

/// The same, on the further condition that the attempts are as they were read.
fn recording_try(
    update: UpdateBuilder,
    transaction: &Transaction,
    batch: BatchReference,
    wei: u64,
) -> Result<UpdateBuilder, StoreError> {
    let condition = update.get_condition_expression().clone().unwrap_or_default();
    let update = update
        // Rows of versions that didn't count either have none.
        .condition_expression(format!(
            "{condition} AND (attribute_not_exists(attempts) OR attempts = :tried) \
             AND (attribute_not_exists(attempts_wei) OR attempts_wei = :tried_wei)"
        ))
        .expression_attribute_values(":tried", number(transaction.attempts))
        .expression_attribute_values(":tried_wei", number(transaction.attempts_wei));
    with_try(update, transaction, batch, wei)
}

const ATTEMPTS: u32 = 12;
