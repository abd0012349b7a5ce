//! Leases of lanes. They save work and aren't needed for safety: two runs on one lane would send everything twice, but
//! each write to storage is conditional.

use std::time::{Duration, Instant};

use shared::{
    model::{Address, ChainId},
    store::{StoreError, Transactions},
};

/// Lifetime of a lease: longer than one transaction usually takes when nodes are slow.
const LIFETIME: Duration = Duration::from_secs(45);

/// Age at which a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(10);

pub(crate) struct Lease<'a> {
    transactions: &'a Transactions,
    chain: ChainId,
    lane: Address,
    holder: &'a str,
    /// Unix time at the start, in seconds.
    taken_at: u64,
    start: Instant,
    renewed: Instant,
}

impl<'a> Lease<'a> {
    /// Leases a lane; `None` when another run holds it. One write.
    pub(crate) async fn take(
        transactions: &'a Transactions,
        chain: ChainId,
        lane: Address,
        holder: &'a str,
        now: u64,
    ) -> Result<Option<Self>, StoreError> {
        let start = Instant::now();
        let lease = Self { transactions, chain, lane, holder, taken_at: now, start, renewed: start };
        Ok(lease.write().await?.then_some(lease))
    }

    /// Whether the lease still holds. One write every ten seconds.
    pub(crate) async fn holds(&mut self) -> Result<bool, StoreError> {
        if self.renewed.elapsed() < RENEWAL {
            return Ok(true);
        }
        self.renewed = Instant::now();
        self.write().await
    }

    /// Releases the lane if this run still holds it. One write.
    pub(crate) async fn give_back(self) -> Result<(), StoreError> {
        self.transactions.give_lease_back(self.chain, self.lane, self.holder).await
    }

    async fn write(&self) -> Result<bool, StoreError> {
        let now = self.taken_at + self.start.elapsed().as_secs();
        self.transactions.take_lease(self.chain, self.lane, self.holder, now, now + LIFETIME.as_secs()).await
    }
}
