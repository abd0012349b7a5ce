//! Leadership of a chain's relay.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::transaction::Transactions;
use crate::{
    model::ChainId,
    store::{
        artist::rows,
        engine::{
            lease::{self, LEASE_TIMEOUT, LeasedWork},
            table::{PrimaryKey, StoreError},
        },
    },
};

/// The right to batch a chain's transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The chain.
    pub chain: ChainId,
    lease: lease::Lease,
}

impl Transactions {
    /// Does a chain's work once while its lease is held; returns whether to do it again. A leader that is silent for
    /// `timeout` is replaced.
    pub async fn hold_lease<W: LeasedWork<Lease = Lease>>(
        &self,
        chain: ChainId,
        holder: &str,
        timeout: Duration,
        until: Instant,
        work: &mut W,
    ) -> Result<bool, W::Error> {
        let key = lease_key(chain);
        lease::hold(&self.table, &key, (holder, timeout), until, |lease| Lease { chain, lease }, work).await
    }

    /// Acquires the lease of a chain's relay, also from a holder that died; `None` as soon as another holder renews it.
    /// That one looks at the queue again before it ends, so a caller who queued something before needn't do more.
    pub async fn acquire_lease(&self, chain: ChainId, holder: &str) -> Result<Option<Lease>, StoreError> {
        let lease = self.table.acquire(&lease_key(chain), holder, LEASE_TIMEOUT).await?;
        Ok(lease.map(|lease| Lease { chain, lease }))
    }

    /// Releases the lease. One write.
    pub async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.table.release(&lease.lease).await
    }

    /// Fails its transaction if another process holds the lease.
    pub(super) fn condition(&self, lease: &Lease) -> Result<TransactWriteItem, StoreError> {
        self.table.condition(&lease.lease)
    }
}

fn lease_key(chain: ChainId) -> PrimaryKey {
    rows::relay_lease(chain)
}
