//! Sparks given to a comment.

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use crate::{
    apply::{applier::Applier, kind::Kind},
    event::{ChainEvent, Sparked},
};

impl Kind for Sparked {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, _event: &ChainEvent, _applier: &Applier<'_>) -> Vec<PrimaryKey> {
        Vec::new()
    }

    async fn apply(
        &self,
        _event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let (chain, sparks) = (applier.chain.id, self.quantity.saturating_to());
        applier.work.add_sparks(chain, self.comment.into(), sparks).await?;
        Ok(None)
    }
}
