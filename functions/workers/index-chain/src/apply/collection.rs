//! Collections.

use alloy::primitives::Address;
use shared::{
    model::{Collection, EventData, Protocol, clip_name, clip_uri},
    store::StoreError,
};

use super::Applier;
use crate::event::{NewCollection, Position};

impl Applier<'_> {
    pub(super) async fn collection_created(
        &mut self,
        at: &Position,
        protocol: Protocol,
        new: &NewCollection,
    ) -> Result<(), StoreError> {
        let address = new.address.into();
        // A contract is created once; further announcements are ignored.
        if self.work.collection(self.chain.id, address).await?.is_some() {
            return Ok(());
        }
        let mut admins: Vec<_> = new.admins.iter().copied().map(Into::into).collect();
        admins.sort_unstable();
        admins.dedup();
        let collection = Collection {
            id: self.id(at),
            chain_id: self.chain.id,
            address,
            protocol,
            name: clip_name(&new.name),
            uri: clip_uri(&new.uri),
            creator: new.creator.into(),
            admins,
            royalty: new.royalty,
            created_at: at.time,
            updated_at: at.time,
        };
        self.known.insert(new.address, protocol);
        self.work.add_collection(&collection)?;
        self.tell_collection(at, &collection, EventData::CollectionCreated)?;
        self.work.list_collection(&collection).await
    }

    pub(super) async fn collection_changed(
        &mut self,
        at: &Position,
        collection: Address,
        name: Option<&str>,
        uri: Option<&str>,
    ) -> Result<(), StoreError> {
        let Some(mut collection) = self.work.collection(self.chain.id, collection.into()).await? else { return Ok(()) };
        if let Some(name) = name {
            collection.name = clip_name(name);
        }
        if let Some(uri) = uri {
            collection.uri = clip_uri(uri);
        }
        collection.updated_at = at.time;
        self.work.put_collection(&collection)?;
        self.tell_collection(at, &collection, EventData::CollectionUpdated)
    }
}
