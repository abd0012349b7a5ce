//! New royalties of a token or, with token id 0, of a collection.

use alloy::primitives::Address;
use shared::{
    model::{self, EventData},
    store::{StoreError, chain::moment_key, engine::PrimaryKey},
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, RoyaltySet},
};

impl Kind for RoyaltySet {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![moment_key(&applier.place(event.emitter, self.token))]
    }

    async fn apply(
        &self,
        ChainEvent { emitter, at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let place = applier.place(*emitter, self.token);
        let Some(mut collection) = applier.work.collection(place.chain, place.collection).await? else {
            return Ok(None);
        };
        if self.token.is_zero() {
            (collection.royalty, collection.updated_at) = (Some(self.royalty), at.time);
            applier.work.put_collection(&collection)?;
            applier.emit(at, 0, EventData::CollectionUpdated(events::collection(at, &collection)))?;
            return Ok(None);
        }
        // Without a recipient the collection's royalty holds again, as in the contracts.
        let royalty = Some(self.royalty).filter(|royalty| royalty.recipient != model::Address::ZERO);
        applier.change_moment(at, &place, &collection, |settings| settings.royalty = royalty).await?;
        if let Some(moment) = applier.work.moment(&place).await? {
            applier.emit(at, 0, EventData::MomentUpdated(events::moment(at, &moment, &collection)))?;
        }
        Ok(None)
    }
}
