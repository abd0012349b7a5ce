//! Leadership of a chain's relay. No clocks are compared: a leader's `beat` rises, and one that stands still for long
//! enough may be taken over. What a former leader still writes is refused by its `epoch`.

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, TransactWriteItem};
use serde::Deserialize;

use super::transaction::Transactions;
use crate::{
    model::ChainId,
    store::table::{PrimaryKey, StoreError, number, text, unless_refused},
};

/// The right to batch a chain's transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The chain.
    pub chain: ChainId,
    /// Who holds it.
    pub holder: String,
    epoch: u64,
    beat: u64,
}

/// State of a chain's leadership.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Standing {
    /// Holder; empty if there is none.
    #[serde(default)]
    pub holder: String,
    /// Rises with each new holder.
    #[serde(default)]
    pub epoch: u64,
    /// Rises while the holder is alive.
    #[serde(default)]
    pub beat: u64,
}

impl Transactions {
    /// Returns who leads a chain's relay. One read.
    pub async fn standing(&self, chain: ChainId) -> Result<Standing, StoreError> {
        Ok(self.table.get(&lease_key(chain)).await?.unwrap_or_default())
    }

    /// Takes the lead if it is still as in `seen`. One write.
    pub async fn take_lead(&self, chain: ChainId, holder: &str, seen: &Standing) -> Result<Option<Lease>, StoreError> {
        let (epoch, beat) = (seen.epoch + 1, seen.beat + 1);
        let update = self
            .table
            .client
            .update_item()
            .table_name(&self.table.name)
            .set_key(Some(lease_key(chain).item()))
            .update_expression("SET holder = :holder, epoch = :epoch, beat = :beat")
            .expression_attribute_values(":holder", text(holder))
            .expression_attribute_values(":epoch", number(epoch))
            .expression_attribute_values(":beat", number(beat));
        let update = if seen.epoch == 0 {
            update.condition_expression("attribute_not_exists(pk)")
        } else {
            update
                .condition_expression("epoch = :seen AND beat = :heard AND holder = :before")
                .expression_attribute_values(":seen", number(seen.epoch))
                .expression_attribute_values(":heard", number(seen.beat))
                .expression_attribute_values(":before", text(&seen.holder))
        };
        let taken = unless_refused(update.send().await)?;
        Ok(taken.map(|_| Lease { chain, holder: holder.to_owned(), epoch, beat }))
    }

    /// Shows that the leader is alive; `false` if another one leads. One write.
    pub async fn beat(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        lease.beat += 1;
        let update = self.of_leader(lease).update_expression("SET beat = :beat");
        let update = update.expression_attribute_values(":beat", number(lease.beat));
        Ok(unless_refused(update.send().await)?.is_some())
    }

    /// Gives the lead back. One write.
    pub async fn give_lead_back(&self, lease: &Lease) -> Result<(), StoreError> {
        let update = self.of_leader(lease).update_expression("SET holder = :nobody");
        let update = update.expression_attribute_values(":nobody", AttributeValue::S(String::new()));
        unless_refused(update.send().await).map(drop)
    }

    /// Fails its transaction if another one leads.
    pub(super) fn leads(&self, lease: &Lease) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.table.name)
            .set_key(Some(lease_key(lease.chain).item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    fn of_leader(&self, lease: &Lease) -> aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder {
        self.table
            .client
            .update_item()
            .table_name(&self.table.name)
            .set_key(Some(lease_key(lease.chain).item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch))
    }
}

fn lease_key(chain: ChainId) -> PrimaryKey {
    PrimaryKey::new(format!("RELAY#{chain}"), "LEASE")
}
