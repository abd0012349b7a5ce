//! Changes of collections.

use shared::{
    model::{Address, ChainId, EventData, clip_name, clip_uri},
    store::{StoreError, artist::Withheld, engine::UnitOfWork},
};

use super::{applier::Applier, events};
use crate::event::ChainEvent;

impl Applier<'_> {
    /// Sets the emitter's name or metadata URI, or both.
    pub(super) async fn change_collection(
        &mut self,
        event: &ChainEvent,
        name: Option<&str>,
        uri: Option<&str>,
    ) -> Result<(), StoreError> {
        let ChainEvent { emitter, at, .. } = event;
        let Some(mut collection) = self.work.collection(self.chain.id, (*emitter).into()).await? else {
            return Ok(());
        };
        if let Some(name) = name {
            collection.name = clip_name(name);
        }
        if let Some(uri) = uri {
            collection.uri = clip_uri(uri);
            self.name_again(event, uri, collection.created_at);
        }
        collection.updated_at = at.time;
        self.work.put_collection(&collection)?;
        self.emit(at, 0, EventData::CollectionUpdated(events::collection(at, &collection)))
    }
}

/// Hides a collection, or shows it again, as the operator decided.
pub(super) async fn withhold(
    work: &mut UnitOfWork,
    chain: ChainId,
    address: Address,
    withheld: &Withheld,
) -> Result<(), StoreError> {
    let Some(mut collection) = work.collection(chain, address).await? else { return Ok(()) };
    let is_withheld = withheld.has_collection(chain, address, collection.creator);
    if collection.is_withheld == is_withheld {
        return Ok(());
    }
    collection.is_withheld = is_withheld;
    work.put_collection(&collection)
}
