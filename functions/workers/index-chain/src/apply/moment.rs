//! Moments: creation, URIs and royalties.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Collection, EventData, FeeRecipient, Moment, MomentRef, Royalty, Share, clip_uri},
    store::{StoreError, chain::EarlySettings},
};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    pub(super) async fn moment_created(
        &mut self,
        at: &Position,
        collection: Address,
        token: U256,
        sender: Address,
        uri: &str,
        max_supply: U256,
    ) -> Result<(), StoreError> {
        let place = self.place(collection, token);
        let Some(collection) = self.work.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        if self.work.moment(&place).await?.is_some() {
            return Ok(());
        }
        let early = self.work.early_settings(&place).await?;
        if early.is_some() {
            self.work.remove_early_settings(&place);
        }
        let EarlySettings { admins, sales, royalty } = early.unwrap_or_default();
        let mut moment = Moment {
            id: self.id(at),
            chain_id: self.chain.id,
            collection: place.collection,
            token_id: place.token,
            protocol: collection.protocol,
            uri: clip_uri(uri),
            // A moment created with its collection has the factory as its sender.
            creator: if self.factories.contains(&sender) { collection.creator } else { sender.into() },
            admins,
            max_supply: Amount(max_supply),
            minted: Amount::default(),
            burned: Amount::default(),
            sales,
            royalty,
            fee_recipients: Vec::new(),
            hidden_by: self.hidden.get(&place).copied(),
            created_at: at.time,
            updated_at: at.time,
        };
        moment.fee_recipients = self.fee_recipients(&moment, &collection).await?;
        self.work.put_moment(&moment)?;
        self.tell_moment((at, 0), &moment, &collection, EventData::MomentCreated)?;
        self.list_new(&moment, &collection).await
    }

    pub(super) async fn uri_set(
        &mut self,
        at: &Position,
        collection: Address,
        token: U256,
        uri: &str,
    ) -> Result<(), StoreError> {
        if token.is_zero() {
            return self.collection_changed(at, collection, None, Some(uri)).await;
        }
        // An empty URI means that a renderer contract answers instead, which isn't indexed.
        let place = self.place(collection, token);
        let Some(mut moment) = self.work.moment(&place).await?.filter(|_| !uri.is_empty()) else { return Ok(()) };
        moment.uri = clip_uri(uri);
        moment.updated_at = at.time;
        self.work.put_moment(&moment)?;
        if let Some(collection) = self.work.collection(self.chain.id, place.collection).await? {
            self.tell_moment((at, 0), &moment, &collection, EventData::MomentUpdated)?;
        }
        self.relist(&place).await
    }

    pub(super) async fn royalty_set(
        &mut self,
        at: &Position,
        collection: Address,
        token: U256,
        royalty: Royalty,
    ) -> Result<(), StoreError> {
        let place = self.place(collection, token);
        let Some(mut collection) = self.work.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        if token.is_zero() {
            (collection.royalty, collection.updated_at) = (Some(royalty), at.time);
            self.work.put_collection(&collection)?;
            return self.tell_collection(at, &collection, EventData::CollectionUpdated);
        }
        // Without a recipient the collection's royalty holds again, as in the contracts.
        let royalty = Some(royalty).filter(|royalty| royalty.recipient != shared::model::Address::ZERO);
        self.change_moment(at, &place, &collection, |_, early| early.royalty = royalty).await?;
        match self.work.moment(&place).await? {
            Some(moment) => self.tell_moment((at, 0), &moment, &collection, EventData::MomentUpdated),
            None => Ok(()),
        }
    }

    /// Changes the settings of a moment, or stores them until it is created.
    pub(super) async fn change_moment(
        &mut self,
        at: &Position,
        place: &MomentRef,
        collection: &Collection,
        change: impl FnOnce(&Collection, &mut EarlySettings),
    ) -> Result<(), StoreError> {
        let Some(mut moment) = self.work.moment(place).await? else {
            let mut early = self.work.early_settings(place).await?.unwrap_or_default();
            change(collection, &mut early);
            return self.work.put_early_settings(place, &early);
        };
        let mut settings = EarlySettings { admins: moment.admins, sales: moment.sales, royalty: moment.royalty };
        change(collection, &mut settings);
        (moment.admins, moment.sales, moment.royalty) = (settings.admins, settings.sales, settings.royalty);
        moment.updated_at = at.time;
        moment.fee_recipients = self.fee_recipients(&moment, collection).await?;
        self.work.put_moment(&moment)
    }

    /// Shares in a moment's revenue: those of a split, or one account with all of it. Without a recipient in the sale, it
    /// is the royalties' recipient, as in the contracts.
    pub(super) async fn fee_recipients(
        &mut self,
        moment: &Moment,
        collection: &Collection,
    ) -> Result<Vec<FeeRecipient>, StoreError> {
        let named = moment.sale().and_then(|sale| sale.funds_recipient);
        let royalty = moment.royalty.or(collection.royalty).map(|royalty| royalty.recipient);
        let royalty = royalty.filter(|recipient| *recipient != shared::model::Address::ZERO);
        let recipient = named.or(royalty).unwrap_or(collection.creator);
        let split = self.work.split(self.chain.id, recipient).await?.filter(|parts| !parts.is_empty());
        Ok(split.unwrap_or_else(|| vec![FeeRecipient { address: recipient, millionths: Share::WHOLE }]))
    }
}
