//! A new revenue split.

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use crate::{
    apply::{applier::Applier, kind::Kind},
    event::{ChainEvent, SplitCreated},
};

impl Kind for SplitCreated {
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
        applier.work.put_split(applier.chain.id, self.split.into(), self.recipients.clone())?;
        Ok(None)
    }
}
