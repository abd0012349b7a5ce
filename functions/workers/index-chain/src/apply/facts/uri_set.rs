//! A token's new metadata URI or, with token id 0, a collection's.

use alloy::primitives::Address;
use shared::{
    model::{EventData, MovedTo, clip_uri, split_pointer},
    store::{StoreError, chain::moment_key, engine::PrimaryKey},
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, UriSet},
};

impl Kind for UriSet {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        Some(split_pointer(&self.uri).0)
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![moment_key(&applier.place(event.emitter, self.token))]
    }

    async fn apply(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let ChainEvent { emitter, at, .. } = event;
        if self.token.is_zero() {
            applier.change_collection(event, None, Some(&self.uri)).await?;
            return Ok(None);
        }
        // An empty URI means that a renderer contract answers instead, which isn't indexed.
        let place = applier.place(*emitter, self.token);
        let moment = applier.work.moment(&place).await?.filter(|_| !self.uri.is_empty());
        let Some(mut moment) = moment else { return Ok(None) };
        applier.name_again(event, &self.uri, moment.created_at);
        // What a move leaves behind keeps its document, for those who hold tokens.
        let (document, copy) = split_pointer(&self.uri);
        let copy = copy.filter(|copy| copy.chain == place.chain && *copy != place);
        moment.moved_to = copy.map(|copy| MovedTo { collection: copy.collection, token_id: copy.token });
        moment.uri = clip_uri(document);
        moment.updated_at = at.time;
        applier.work.put_moment(&moment)?;
        if let Some(collection) = applier.work.collection(place.chain, place.collection).await? {
            applier.emit(at, 0, EventData::MomentUpdated(events::moment(at, &moment, &collection)))?;
        }
        applier.relist(&place).await?;
        Ok(None)
    }
}
