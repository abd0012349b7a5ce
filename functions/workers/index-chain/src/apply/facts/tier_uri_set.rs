//! The new base URI of a tier's metadata. Minted tokens keep their URI, as onchain.

use alloy::primitives::Address;
use shared::{
    model::clip_uri,
    store::{StoreError, engine::PrimaryKey},
};

use crate::{
    apply::{applier::Applier, kind::Kind},
    event::{ChainEvent, TierUriSet},
};

impl Kind for TierUriSet {
    fn names(&self) -> Option<Address> {
        None
    }

    /// Each token has a document of its own.
    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, _event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![applier.collection_key(self.collection)]
    }

    async fn apply(
        &self,
        _event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let (chain, collection) = (applier.chain.id, self.collection.into());
        // Anybody may set the URI of an edition that was never created.
        if applier.work.collection(chain, collection).await?.is_none() {
            return Ok(None);
        }
        let mut stored = applier.work.tier(chain, collection, self.tier).await?.unwrap_or_default();
        stored.uri = clip_uri(&self.uri);
        applier.work.put_tier(chain, collection, self.tier, &stored)?;
        Ok(None)
    }
}
