//! Leadership of a chain's relay.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::transaction::Transactions;
use crate::{
    model::ChainId,
    store::engine::{
        lease,
        table::{PrimaryKey, StoreError},
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
    /// Takes the lead of a chain's relay, also from a leader who died; `None` as soon as another one is seen alive. That
    /// one looks at the queue again before it ends, so a caller who queued something before needn't do more.
    pub async fn lead(&self, chain: ChainId, holder: &str) -> Result<Option<Lease>, StoreError> {
        let lease = self.table.lead(&lease_key(chain), holder).await?;
        Ok(lease.map(|lease| Lease { chain, lease }))
    }

    /// Shows that the leader is alive; `false` if another one leads. One write.
    pub async fn beat(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        self.table.beat(&mut lease.lease).await
    }

    /// Gives the lead back. One write.
    pub async fn give_lead_back(&self, lease: &Lease) -> Result<(), StoreError> {
        self.table.give_lead_back(&lease.lease).await
    }

    /// Fails its transaction if another one leads.
    pub(super) fn leads(&self, lease: &Lease) -> Result<TransactWriteItem, StoreError> {
        self.table.leads(&lease.lease)
    }
}

fn lease_key(chain: ChainId) -> PrimaryKey {
    PrimaryKey::new(format!("RELAY#{chain}"), "LEASE")
}
