//! A collection's new name or metadata URI.

use alloy::primitives::Address;
use shared::store::{StoreError, engine::PrimaryKey};

use crate::{
    apply::{applier::Applier, kind::Kind},
    event::{ChainEvent, CollectionChanged},
};

impl Kind for CollectionChanged {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        self.uri.as_deref()
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![applier.collection_key(event.emitter)]
    }

    async fn apply(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        applier.change_collection(event, self.name.as_deref(), self.uri.as_deref()).await?;
        Ok(None)
    }
}
