//! Budgets of a day, in wei: reserved when a transaction is queued; what wasn't used comes back at its end.

use aws_sdk_dynamodb::types::{TransactWriteItem, Update};

use super::{
    charge::{Charge, PoolLimit},
    transaction::Transactions,
};
use crate::{
    model::{ChainId, DAY},
    store::{
        artist::rows,
        engine::table::{PrimaryKey, StoreError, number, updating},
    },
};

/// Counters of a pool, so that concurrent transactions don't contend for one row.
const SHARDS: u8 = 8;

/// Whether one counter of the pool can take `wei` at all.
pub(super) fn fits(limit: PoolLimit, wei: u64) -> bool {
    wei <= limit.wei / u64::from(SHARDS)
}

/// A pool's counters in a random order.
pub(super) fn shards() -> impl Iterator<Item = u8> {
    let first = getrandom::u32().unwrap_or_default() as u8 % SHARDS;
    (0..SHARDS).map(move |shard| (first + shard) % SHARDS)
}

impl Transactions {
    /// Fails its transaction if the counter would pass its part of the limit.
    pub(super) fn reserve_from_pool(
        &self,
        chain: ChainId,
        charge: &Charge,
        limit: PoolLimit,
    ) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(pool_key(chain, charge).item()))
            .update_expression("SET expires_at = :expiry ADD spent :wei")
            .condition_expression("attribute_not_exists(spent) OR spent <= :rest")
            .expression_attribute_values(":expiry", number((charge.day + 2) * DAY))
            .expression_attribute_values(":wei", number(charge.wei))
            .expression_attribute_values(":rest", number((limit.wei / u64::from(SHARDS)).saturating_sub(charge.wei)));
        updating(update)
    }

    /// Changes a pool's counter by `wei`.
    pub(super) fn correct_pool(
        &self,
        chain: ChainId,
        charge: &Charge,
        wei: i128,
    ) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(pool_key(chain, charge).item()))
            .update_expression("SET expires_at = :expiry ADD spent :wei")
            .expression_attribute_values(":expiry", number((charge.day + 2) * DAY))
            .expression_attribute_values(":wei", number(wei));
        updating(update)
    }
}

fn pool_key(chain: ChainId, charge: &Charge) -> PrimaryKey {
    let Charge { day, pool, shard, .. } = charge;
    rows::pool(chain, *day, pool.word(), *shard)
}
