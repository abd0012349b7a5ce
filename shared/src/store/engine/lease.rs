//! The right of one process among several to do a work. No clocks are compared: a holder's `beat` rises, and a lease whose
//! beat stands still for long enough may be taken over. A former holder's writes are refused by its `epoch`.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::{
    operation::update_item::builders::UpdateItemFluentBuilder,
    types::{AttributeValue, ConditionCheck, TransactWriteItem},
};
use serde::Deserialize;

use super::table::{PrimaryKey, StoreError, Table, number, text, unless_refused};
use crate::{aws::Dispatch, telemetry};

/// Time without a renewal after which a lease may be taken over. By this process's clock alone.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(4);

/// Longest pause between two looks at another holder's lease.
const POLL: Duration = Duration::from_millis(250);

/// Longest pause between two renewals; shorter where leases are taken over sooner than after [`LEASE_TIMEOUT`].
const RENEWAL: Duration = Duration::from_secs(1);

/// A lease that this process holds, unless another one took it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    key: PrimaryKey,
    holder: String,
    epoch: u64,
    beat: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct LeaseRow {
    /// Empty if there is none.
    #[serde(default)]
    holder: String,
    #[serde(default)]
    epoch: u64,
    #[serde(default)]
    beat: u64,
}

/// Another process holds the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another process holds the lease")]
pub struct LeaseLost;

/// Work that one process at a time does, until nothing is left to do.
pub trait LeasedWork {
    /// The lease as the work's writes state it.
    type Lease;
    /// Why the work stops.
    type Error: From<StoreError> + From<LeaseLost>;

    /// Does the work; `false` if the rest isn't for this process.
    fn run(&mut self, lease: &Self::Lease) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Returns whether there is more: what arrived in the last moments of [`run`](Self::run) found the lease held.
    fn is_left(&mut self) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Wakes another process for what is left.
    fn wake(&mut self) -> impl Future<Output = Result<(), Self::Error>>;
}

/// Does the work once while the lease is held, which is renewed meanwhile and released. Returns whether this process should do
/// it again: not if another one holds the lease, nothing is left, or `until` is over, when another one is woken. Fails with
/// [`LeaseLost`] as soon as another process takes the lease over, which takes a silence of `timeout`.
pub(in crate::store) async fn hold<W: LeasedWork>(
    table: &Table,
    key: &PrimaryKey,
    (holder, timeout): (&str, Duration),
    until: Instant,
    wrapped: impl FnOnce(Lease) -> W::Lease,
    work: &mut W,
) -> Result<bool, W::Error> {
    let Some(lease) = table.acquire(key, holder, timeout).await? else { return Ok(false) };
    let done = tokio::select! {
        done = async { work.run(&wrapped(lease.clone())).await } => done,
        lost = table.renew_until_lost(lease.clone(), timeout) => Err(lost.into()),
    };
    if let Err(error) = table.release(&lease).await {
        tracing::warn!(error = telemetry::chain(&error), "lease {} not released", key.pk);
    }
    if !done? || !work.is_left().await? {
        return Ok(false);
    }
    if Instant::now() >= until {
        work.wake().await?;
        return Ok(false);
    }
    Ok(true)
}

impl Table {
    /// Acquires the lease, also from a holder that has been silent for `timeout`; `None` as soon as another holder renews
    /// it. That one looks for work again before it ends, so a caller who left some before needn't do more.
    pub(in crate::store) async fn acquire(
        &self,
        key: &PrimaryKey,
        holder: &str,
        timeout: Duration,
    ) -> Result<Option<Lease>, StoreError> {
        let seen: LeaseRow = self.get(key).await?.unwrap_or_default();
        let since = Instant::now();
        let mut now = seen.clone();
        loop {
            // A lease of this very process is one that it couldn't release.
            let is_free = now.holder.is_empty() || now.holder == holder;
            if is_free || (now == seen && since.elapsed() >= timeout) {
                return self.take(key, holder, &now).await;
            }
            if now != seen {
                return Ok(None);
            }
            tokio::time::sleep(POLL.min(timeout / 16)).await;
            now = self.get(key).await?.unwrap_or_default();
        }
    }

    /// Takes the lease if its row is still as in `seen`. One write.
    async fn take(&self, key: &PrimaryKey, holder: &str, seen: &LeaseRow) -> Result<Option<Lease>, StoreError> {
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
        let taken = unless_refused(update.dispatch().await)?;
        Ok(taken.map(|_| Lease { key: key.clone(), holder: holder.to_owned(), epoch, beat }))
    }

    /// Ends when another process has the lease.
    async fn renew_until_lost(&self, mut lease: Lease, timeout: Duration) -> LeaseLost {
        loop {
            tokio::time::sleep(RENEWAL.min(timeout / 4)).await;
            match self.renew(&mut lease).await {
                Ok(true) => {}
                Ok(false) => return LeaseLost,
                // Without a renewal another process takes over, and this one is refused what it writes.
                Err(error) => {
                    tracing::warn!(error = telemetry::chain(&error), "lease {} not renewed", lease.key.pk);
                }
            }
        }
    }

    /// Renews the lease; `false` if another process holds it. One write.
    pub(in crate::store) async fn renew(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        lease.beat += 1;
        let update = self.of_holder(lease).update_expression("SET beat = :beat");
        let update = update.expression_attribute_values(":beat", number(lease.beat));
        Ok(unless_refused(update.dispatch().await)?.is_some())
    }

    /// Releases the lease. One write.
    pub(in crate::store) async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let update = self.of_holder(lease).update_expression("SET holder = :nobody");
        let update = update.expression_attribute_values(":nobody", AttributeValue::S(String::new()));
        unless_refused(update.dispatch().await).map(drop)
    }

    /// Fails its transaction if another process holds the lease.
    pub(in crate::store) fn condition(&self, lease: &Lease) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.name)
            .set_key(Some(lease.key.item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    fn of_holder(&self, lease: &Lease) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(lease.key.item()))
            .condition_expression("holder = :holder AND epoch = :epoch")
            .expression_attribute_values(":holder", text(&lease.holder))
            .expression_attribute_values(":epoch", number(lease.epoch))
    }
}
