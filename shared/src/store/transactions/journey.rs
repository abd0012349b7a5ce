//! A transaction's way from the queue to its end. Each step holds only from the statuses that
//! [`TransactionStatus::may_become`] names, so that steps may be repeated. `false` means that the status has changed.

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{TransactWriteItem, Update, builders::UpdateBuilder};
use serde_json::{Map, Value};

use super::{
    account::account_key,
    batch::MinedIn,
    transaction::{BatchReference, Transaction, Transactions, transaction_key},
};
use crate::{
    model::TransactionStatus,
    store::table::{StoreError, backoff, number, text},
};

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// `Mined`, `Reverted` or `Failed`.
    pub status: TransactionStatus,
    /// Its share of the block's inclusion.
    pub mined: Option<MinedIn>,
    /// Hashes that its batch was sent with.
    pub hashes: Vec<B256>,
    /// Why nothing was done, in words.
    pub reason: Option<String>,
    /// What it created, as its answer names it.
    pub result: Map<String, Value>,
    /// What it cost, in wei.
    pub wei: u64,
    /// Whether its account is known to be deployed now.
    pub deployed: bool,
}

impl Transactions {
    /// Records the batch and the newest hash that a transaction was sent with. One write.
    pub async fn mark_sent(
        &self,
        transaction: &Transaction,
        batch: BatchReference,
        hash: B256,
        now: u64,
    ) -> Result<bool, StoreError> {
        let update = self
            .step(transaction, TransactionStatus::Sent)
            .update_expression(
                "SET #status = :status, batch = :batch, hashes = list_append(hashes, :hashes), updated_at = :now",
            )
            .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
            .expression_attribute_values(":hashes", serde_dynamo::to_attribute_value([hash])?)
            .expression_attribute_values(":now", number(now));
        self.table.write_together(vec![write(update)?]).await
    }

    /// Puts a transaction back into the queue, where it keeps its place, for a batch of at most `company`. One write.
    pub async fn requeue(
        &self,
        transaction: &Transaction,
        company: Option<usize>,
        now: u64,
    ) -> Result<bool, StoreError> {
        let update = self
            .step(transaction, TransactionStatus::Queued)
            .update_expression("SET #status = :status, updated_at = :now ADD attempts :one")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":now", number(now));
        let queued = super::queue::Queued {
            place: transaction.place.clone(),
            artist_id: transaction.artist_id,
            transaction_id: transaction.id,
            collection: transaction.collection(),
            company,
        };
        self.table.write_together(vec![write(update)?, self.enqueue(transaction.chain, &queued)?]).await
    }

    /// Ends a transaction: takes it from the queue, and gives back what it reserved beyond its cost. Ending it again, as
    /// after a reorganisation, only corrects what is known of it. One write.
    pub async fn end(&self, transaction: &Transaction, ending: &Ending, now: u64) -> Result<bool, StoreError> {
        if transaction.status.is_final() {
            return self.table.write_together(vec![self.conclusion(transaction, ending, now)?]).await;
        }
        let mut same_day = true;
        for attempt in 0..ATTEMPTS {
            let refund = i128::from(ending.wei) - i128::from(transaction.charge.wei);
            let writes = vec![
                self.conclusion(transaction, ending, now)?,
                self.dequeue(transaction.chain, &transaction.place)?,
                self.leave_account(transaction, ending.deployed, same_day.then_some(refund))?,
                self.correct_pool(transaction.chain, &transaction.charge, refund)?,
            ];
            let Err(reasons) = self.table.write_or_reasons(writes).await? else { return Ok(true) };
            if reasons.first().is_some_and(|reason| reason.is_condition()) {
                return Ok(false);
            }
            if reasons.iter().any(|reason| reason.is_condition()) {
                // The account's budget is another day's by now.
                same_day = false;
            } else {
                tokio::time::sleep(backoff(attempt)).await;
            }
        }
        Err(StoreError::Contention("a transaction's rows"))
    }

    fn conclusion(
        &self,
        transaction: &Transaction,
        ending: &Ending,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let mut hashes = transaction.hashes.clone();
        hashes.extend(ending.hashes.iter().filter(|hash| !transaction.hashes.contains(hash)));
        let mut set = vec![
            "#status = :status",
            "charge.wei = :wei",
            "updated_at = :now",
            "#result = :result",
            "hashes = :hashes",
        ];
        let mut update = self
            .step(transaction, ending.status)
            .expression_attribute_names("#result", "result")
            .expression_attribute_values(":wei", number(ending.wei))
            .expression_attribute_values(":hashes", serde_dynamo::to_attribute_value(hashes)?)
            .expression_attribute_values(":result", serde_dynamo::to_attribute_value(&ending.result)?)
            .expression_attribute_values(":now", number(now));
        let mut remove = Vec::new();
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
        write(update.update_expression(expression))
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
            .expression_attribute_values(":less", number(-1));
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
        write(update.update_expression(expression))
    }

    /// An update of a transaction whose status may become `next`.
    fn step(&self, transaction: &Transaction, next: TransactionStatus) -> UpdateBuilder {
        let key = transaction_key(transaction.artist_id, transaction.id);
        let mut update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":status", text(next.word()));
        // A final transaction is corrected as such, so that it isn't taken out of the queue twice.
        let is_like = |status: &TransactionStatus| status.is_final() == transaction.status.is_final();
        let mut before = Vec::new();
        for status in TransactionStatus::ALL.into_iter().filter(|status| status.may_become(next)).filter(is_like) {
            let name = format!(":from_{}", status.word());
            update = update.expression_attribute_values(&name, text(status.word()));
            before.push(name);
        }
        update.condition_expression(format!("#status IN ({})", before.join(", ")))
    }
}

const ATTEMPTS: u32 = 12;

fn write(update: UpdateBuilder) -> Result<TransactWriteItem, StoreError> {
    Ok(TransactWriteItem::builder().update(update.build()?).build())
}
