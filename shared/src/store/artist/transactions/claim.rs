//! A batch's claims on its transactions, made before it is signed: a cancelled one costs the others nothing, and none
//! is taken back whose batch may be sent. A claimed transaction stays in the queue. Another batch may claim it again if
//! this one was never stored: its leader died before. Its hashes are the batch's until it is told them.

use std::collections::HashSet;

use super::{
    batch::Slot,
    lease::Lease,
    transaction::{BatchReference, Transaction, Transactions},
};
use crate::{
    model::TransactionStatus,
    store::engine::table::{StoreError, number, updating},
};

/// Claims that are taken back in one write; DynamoDB writes 100 rows together.
const TOGETHER: usize = 50;

impl Transactions {
    /// Claims a transaction for a batch, before that is signed: from then on its artist can't take it back. `false` if
    /// another batch has claimed it since it was read, or it is over. One write.
    pub async fn claim(&self, transaction: &Transaction, batch: BatchReference, now: u64) -> Result<bool, StoreError> {
        let Some(update) = self.step(transaction, TransactionStatus::Sent) else { return Ok(false) };
        let status = update.get_condition_expression().clone().unwrap_or_default();
        let (former, update) = match transaction.batch {
            None => ("attribute_not_exists(#batch)", update),
            Some(former) => {
                let former = serde_dynamo::to_attribute_value(former)?;
                ("#batch = :former", update.expression_attribute_values(":former", former))
            }
        };
        let update = update
            .condition_expression(format!("{status} AND ({former} OR #batch = :batch)"))
            .update_expression("SET #status = :status, #batch = :batch, updated_at = :now")
            .expression_attribute_names("#batch", "batch")
            .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
            .expression_attribute_values(":now", number(now));
        self.table.write_together(vec![updating(update)?]).await
    }

    /// Takes back a batch's claims on transactions, given as they were before, for the leader alone: nothing was sent.
    /// `false` if one of them has changed since: then that claim stays, and perhaps others do. One write per 50.
    pub async fn unclaim(
        &self,
        lease: &Lease,
        transactions: &[Transaction],
        batch: BatchReference,
        now: u64,
    ) -> Result<bool, StoreError> {
        let mut are_back = true;
        for transactions in transactions.chunks(TOGETHER) {
            let mut writes = vec![self.condition(lease)?];
            for transaction in transactions {
                let Some(update) = self.step(transaction, TransactionStatus::Queued) else { return Ok(false) };
                let status = update.get_condition_expression().clone().unwrap_or_default();
                let update = update
                    .condition_expression(format!("{status} AND #batch = :batch AND size(hashes) = :hashes"))
                    .expression_attribute_names("#batch", "batch")
                    .expression_attribute_values(":batch", serde_dynamo::to_attribute_value(batch)?)
                    .expression_attribute_values(":hashes", number(transaction.hashes.len()))
                    .expression_attribute_values(":now", number(now));
                let set = "SET #status = :status, updated_at = :now";
                writes.push(updating(match transaction.batch {
                    None => update.update_expression(format!("{set} REMOVE #batch")),
                    Some(former) => update
                        .update_expression(format!("{set}, #batch = :former"))
                        .expression_attribute_values(":former", serde_dynamo::to_attribute_value(former)?),
                })?);
            }
            are_back &= self.table.write_together(writes).await?;
        }
        Ok(are_back)
    }

    /// Adds the hashes of batches that are sent and that transactions aren't told yet. One read for each such batch.
    pub async fn add_hashes(&self, transactions: &mut [Transaction]) -> Result<(), StoreError> {
        let slots: HashSet<_> = transactions.iter().filter_map(untold).collect();
        for slot in slots {
            let Some(batch) = self.batch(&slot).await? else { continue };
            let ids: HashSet<_> = batch.members.iter().map(|member| member.transaction_id).collect();
            for transaction in transactions.iter_mut() {
                // The nonce may be another batch's if the one that claimed the transaction was never stored.
                if untold(transaction) == Some(slot) && ids.contains(&transaction.id) {
                    let mut hashes = batch.hashes();
                    hashes.retain(|hash| !transaction.hashes.contains(hash));
                    transaction.hashes.append(&mut hashes);
                }
            }
        }
        Ok(())
    }
}

/// The batch that has a transaction which may lack its hashes: those that are there may be an earlier one's.
fn untold(transaction: &Transaction) -> Option<Slot> {
    let BatchReference { lane, nonce } = transaction.batch?;
    let lacks_some = transaction.hashes.is_empty() || transaction.attempts > 0;
    let is_untold = transaction.status == TransactionStatus::Sent && lacks_some;
    is_untold.then_some(Slot { chain: transaction.chain, lane, nonce })
}
