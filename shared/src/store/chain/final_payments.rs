//! Payments that are there for good.

use serde::Deserialize;

use super::payments::PaymentFilter;
use crate::{
    aws::Dispatch,
    model::{ChainId, Payment},
    store::engine::{
        index::Progress,
        structures::numbered_list::row_key,
        table::{ChainTable, StoreError, text},
    },
};

#[derive(Deserialize)]
struct NumberedPayment {
    sk: String,
    #[serde(flatten)]
    payment: Payment,
}

impl ChainTable {
    /// Final payments of a chain, numbered from `first` on; ends before a number that isn't there. A read and a Query.
    pub async fn final_payments(&self, chain: ChainId, first: u64, limit: u16) -> Result<Vec<Payment>, StoreError> {
        // Read first: the rows are never older than what it says.
        let progress = Progress::of(self, chain).await?;
        let partition = PaymentFilter::default().partition(chain);
        let last = first.saturating_add(limit.into());
        let call = self
            .client
            .query()
            .table_name(&self.name)
            .key_condition_expression("pk = :list AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":list", text(&partition))
            .expression_attribute_values(":first", text(row_key(&partition, first).sk))
            .expression_attribute_values(":last", text(row_key(&partition, last).sk))
            .limit(limit.into())
            .consistent_read(true);
        let rows: Vec<NumberedPayment> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        let expected = (first..).map(|number| row_key(&partition, number).sk);
        let settled = rows.into_iter().zip(expected).take_while(|(row, sk)| row.sk == *sk);
        let settled = settled.map(|(row, _)| row.payment).take_while(|payment| progress.is_settled(payment.block));
        Ok(settled.collect())
    }
}
