//! A new collection.

use alloy::primitives::Address;
use shared::{
    model::{Collection, EventData, MomentRef, clip_name, clip_uri},
    store::{StoreError, chain::TimelineSubject, engine::PrimaryKey},
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, NewCollection},
};

impl Kind for NewCollection {
    /// The creator of the moments that are created with it.
    fn names(&self) -> Option<Address> {
        Some(self.creator)
    }

    fn uri(&self) -> Option<&str> {
        Some(&self.uri)
    }

    fn reads(&self, _event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![applier.collection_key(self.address)]
    }

    async fn apply(
        &self,
        ChainEvent { at, protocol, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let (chain_id, address) = (applier.chain.id, self.address.into());
        // A contract is created once; further announcements are ignored.
        if applier.work.collection(chain_id, address).await?.is_some() {
            return Ok(None);
        }
        let creator = applier.creator(at, self.creator.into(), self.sender.into()).await?;
        let mut admins: Vec<_> = self.admins.iter().copied().map(Into::into).collect();
        admins.sort_unstable();
        admins.dedup();
        let collection = Collection {
            id: applier.id(at),
            chain_id,
            address,
            protocol: *protocol,
            name: clip_name(&self.name),
            uri: clip_uri(&self.uri),
            creator,
            admins,
            royalty: self.royalty,
            is_withheld: applier.withheld.has_collection(chain_id, address, creator),
            created_at: at.time,
            updated_at: at.time,
        };
        applier.known.insert(self.address, *protocol);
        applier.work.add_collection(&collection)?;
        applier.emit(at, 0, EventData::CollectionCreated(events::collection(at, &collection)))?;
        applier.work.list_collection(&collection).await?;
        for admin in &collection.admins {
            let whole = MomentRef::whole(chain_id, address);
            applier.work.note(&whole, &TimelineSubject::AdministeredBy(*admin)).await?;
        }
        Ok(None)
    }
}
