//! A new token of a collection.

use alloy::primitives::Address;
use shared::{
    model::{Amount, EventData, Moment, StatsSubject, clip_uri},
    store::{
        StoreError,
        chain::{EarlySettings, listing_keys, moment_keys, stats_keys},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, MomentCreated},
};

impl Kind for MomentCreated {
    fn names(&self) -> Option<Address> {
        Some(self.creator)
    }

    fn uri(&self) -> Option<&str> {
        Some(&self.uri)
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        let place = applier.place(event.emitter, self.token);
        let mut keys = listing_keys(&place, self.creator.into(), event.protocol, &self.uri);
        keys.push(applier.collection_key(event.emitter));
        keys.extend(moment_keys(&place));
        for subject in [StatsSubject::Artist(self.creator.into()), StatsSubject::Collection(place.collection)] {
            keys.extend(stats_keys((place.chain, subject), None));
        }
        keys
    }

    async fn apply(
        &self,
        ChainEvent { emitter, at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let place = applier.place(*emitter, self.token);
        let Some(collection) = applier.work.collection(place.chain, place.collection).await? else { return Ok(None) };
        if applier.work.moment(&place).await?.is_some() {
            return Ok(None);
        }
        let early = applier.work.early_settings(&place).await?;
        if early.is_some() {
            applier.work.remove_early_settings(&place);
        }
        let EarlySettings { admins, sales, royalty } = early.unwrap_or_default();
        let id = applier.id(at);
        // A moment created with its collection has the factory as its sender.
        let is_by_factory = applier.factories.contains(&self.creator);
        let named = if is_by_factory { collection.creator } else { self.creator.into() };
        let creator = match self.is_named {
            true => applier.creator(at, named, collection.creator).await?,
            false => named,
        };
        let mut moment = Moment {
            id,
            chain_id: place.chain,
            collection: place.collection,
            token_id: place.token,
            protocol: collection.protocol,
            uri: clip_uri(&self.uri),
            creator,
            admins,
            max_supply: Amount(self.max_supply),
            minted: Amount::default(),
            burned: Amount::default(),
            sales,
            royalty,
            fee_recipients: Vec::new(),
            moved_to: None,
            hidden_by: applier.hidden.get(&place).copied(),
            is_withheld: applier.withheld.has(&place, creator),
            created_at: at.time,
            updated_at: at.time,
        };
        moment.fee_recipients = applier.fee_recipients(&moment, &collection).await?;
        applier.work.put_moment(&moment)?;
        applier.emit(at, 0, EventData::MomentCreated(events::moment(at, &moment, &collection)))?;
        applier.list_new(&moment, &collection).await?;
        Ok(None)
    }
}
