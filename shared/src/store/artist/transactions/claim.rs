//! A batch's claims on its transactions, made before it is signed: a cancelled one costs the others nothing, and none
//! is taken back whose batch may be sent. A claimed transaction stays in the queue. Another batch may claim it again if
//! this one was never stored: its leader died before.

use super::{
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
}
