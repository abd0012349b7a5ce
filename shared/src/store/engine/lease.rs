//! The right of one process among several to do a work. No clocks are compared: a leader's `beat` rises, and one that
//! stands still for long enough may be taken over. What a former leader still writes is refused by its `epoch`.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::{
    operation::update_item::builders::UpdateItemFluentBuilder,
    types::{AttributeValue, ConditionCheck, TransactWriteItem},
};
use serde::Deserialize;

use super::table::{PrimaryKey, StoreError, Table, number, text, unless_refused};

/// Time without a sign of life after which a leader counts as dead. By this process's clock alone.
const SILENCE: Duration = Duration::from_secs(4);

const LOOK: Duration = Duration::from_millis(250);

/// The lead of a work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    key: PrimaryKey,
    holder: String,
    epoch: u64,
    beat: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct Standing {
    /// Empty if there is none.
    #[serde(default)]
    holder: String,
    #[serde(default)]
    epoch: u64,
    #[serde(default)]
    beat: u64,
}

impl Table {
    /// Takes the lead, also from a leader who died; `None` as soon as another one is seen alive. That one looks for work
    /// again before it ends, so a caller who left some before needn't do more.
    pub(in crate::store) async fn lead(&self, key: &PrimaryKey, holder: &str) -> Result<Option<Lease>, StoreError> {
        let seen: Standing = self.get(key).await?.unwrap_or_default();
        let since = Instant::now();
        let mut now = seen.clone();
        loop {
            // A lead of this very process is one that it couldn't give back.
            let is_free = now.holder.is_empty() || now.holder == holder;
            if is_free || (now == seen && since.elapsed() >= SILENCE) {
                return self.take_lead(key, holder, &now).await;
            }
            if now != seen {
                return Ok(None);
            }
            tokio::time::sleep(LOOK).await;
            now = self.get(key).await?.unwrap_or_default();
        }
    }

    /// Takes the lead if it is still as in `seen`. One write.
    async fn take_lead(&self, key: &PrimaryKey, holder: &str, seen: &Standing) -> Result<Option<Lease>, StoreError> {
        let (epoch, beat) = (seen.epoch + 1, seen.beat + 1);
        let update = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key.item()))
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
        Ok(taken.map(|_| Lease { key: key.clone(), holder: holder.to_owned(), epoch, beat }))
    }

    /// Shows that the leader is alive; `false` if another one leads. One write.
    pub(in crate::store) async fn beat(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        lease.beat += 1;
        let update = self.of_leader(lease).update_expression("SET beat = :beat");
        let update = update.expression_attribute_values(":beat", number(lease.beat));
        Ok(unless_refused(update.send().await)?.is_some())
    }

    /// Gives the lead back. One write.
    pub(in crate::store) async fn give_lead_back(&self, lease: &Lease) -> Result<(), StoreError> {
        let update = self.of_leader(lease).update_expression("SET holder = :nobody");
        let update = update.expression_attribute_values(":nobody", AttributeValue::S(String::new()));
        unless_refused(update.send().await).map(drop)
    }

    /// Fails its transaction if another one leads.
    pub(in crate::store) fn leads(&self, lease: &Lease) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.name)
            .set_key(Some(lease.key.item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    fn of_leader(&self, lease: &Lease) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(lease.key.item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch))
    }
}
