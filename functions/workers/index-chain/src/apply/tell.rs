//! What is told in the chain's log of events.

use alloy::primitives::{Address, U256};
use shared::{
    chain::protocol::permission::Permission,
    model::{
        Collection, CollectionEvent, CommentEvent, Event, EventData, Moment, MomentEvent, MomentSale, Payment,
        PaymentEvent, PermissionEvent, Protocol, SaleEvent, SaleView, Transfer, TransferEvent, TransferType,
    },
    store::{StoreError, chain::NewComment},
};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    /// Tells what a log caused; `nth` tells apart several events of one kind.
    fn tell(&mut self, at: &Position, nth: u64, data: EventData) -> Result<(), StoreError> {
        let id = self.id(at).of_its(&format!("{} {nth}", data.kind().word()));
        self.work.tell(&Event { id, time: at.time, is_reverted: false, data })
    }

    pub(super) fn tell_collection(
        &mut self,
        at: &Position,
        collection: &Collection,
        kind: fn(CollectionEvent) -> EventData,
    ) -> Result<(), StoreError> {
        let of = collection.clone();
        let event = CollectionEvent {
            id: of.id,
            chain_id: of.chain_id,
            collection: of.address,
            protocol: of.protocol,
            name: of.name,
            uri: of.uri,
            owner: of.creator,
            royalty: of.royalty.map(Into::into),
            transaction_hash: at.transaction,
        };
        self.tell(at, 0, kind(event))
    }

    pub(super) fn tell_moment(
        &mut self,
        (at, nth): (&Position, u64),
        moment: &Moment,
        collection: &Collection,
        kind: fn(MomentEvent) -> EventData,
    ) -> Result<(), StoreError> {
        let event = MomentEvent {
            id: moment.id,
            chain_id: moment.chain_id,
            collection: moment.collection,
            token_id: moment.token_id,
            protocol: moment.protocol,
            uri: moment.uri.clone(),
            creator: moment.creator,
            owner: collection.creator,
            max_supply: moment.max_supply,
            royalty: moment.royalty.map(Into::into),
            transaction_hash: at.transaction,
        };
        self.tell(at, nth, kind(event))
    }

    pub(super) fn tell_sale(
        &mut self,
        at: &Position,
        collection: &Collection,
        token: U256,
        sale: &MomentSale,
        is_reset: bool,
    ) -> Result<(), StoreError> {
        let event = SaleEvent {
            chain_id: collection.chain_id,
            collection: collection.address,
            token_id: token.into(),
            owner: collection.creator,
            strategy: sale.strategy,
            sale: (!is_reset).then(|| SaleView::of(sale)),
            transaction_hash: at.transaction,
        };
        self.tell(at, 0, EventData::SaleUpdated(event))
    }

    pub(super) fn tell_permissions(
        &mut self,
        at: &Position,
        collection: &Collection,
        (token, account): (U256, Address),
        mask: U256,
        is_admin: bool,
    ) -> Result<(), StoreError> {
        let has = |permission: &Permission| match permission {
            Permission::Admin => is_admin,
            other => collection.protocol == Protocol::Native && other.is_among(mask),
        };
        let event = PermissionEvent {
            chain_id: collection.chain_id,
            collection: collection.address,
            token_id: token.into(),
            owner: collection.creator,
            account: account.into(),
            permissions: Permission::ALL.iter().filter(|it| has(it)).map(|it| it.name().to_owned()).collect(),
            transaction_hash: at.transaction,
        };
        self.tell(at, 0, EventData::PermissionChanged(event))
    }

    /// Tells a transfer of an event's token with this number.
    pub(super) fn tell_transfer(&mut self, at: &Position, number: u64, transfer: &Transfer) -> Result<(), StoreError> {
        let event = TransferEvent {
            id: transfer.id,
            chain_id: transfer.chain_id,
            collection: transfer.collection,
            token_id: transfer.token_id,
            owner: transfer.creator,
            from: transfer.from,
            to: transfer.to,
            quantity: transfer.quantity,
            value: transfer.value,
            currency: transfer.currency,
            transaction_hash: transfer.transaction_hash,
        };
        let data = match transfer.r#type {
            TransferType::Payment => EventData::MomentCollected(event),
            TransferType::Airdrop | TransferType::Transfer => EventData::MomentTransferred(event),
        };
        self.tell(at, number, data)
    }

    /// Tells a comment; not on a collection that isn't indexed.
    pub(super) async fn tell_comment(&mut self, at: &Position, new: &NewComment) -> Result<(), StoreError> {
        let NewComment { moment, comment, .. } = new;
        let Some(collection) = self.work.collection(self.chain.id, moment.collection).await? else { return Ok(()) };
        let event = CommentEvent {
            id: comment.id,
            chain_id: moment.chain,
            collection: moment.collection,
            token_id: moment.token,
            owner: collection.creator,
            sender: comment.sender,
            comment: comment.comment.clone(),
            comment_id: comment.comment_id,
            reply_to_id: comment.reply_to_id,
            nonce: comment.nonce,
            transaction_hash: at.transaction,
        };
        self.tell(at, 0, EventData::CommentCreated(event))
    }

    pub(super) fn tell_payment(&mut self, at: &Position, payment: &Payment) -> Result<(), StoreError> {
        let event = PaymentEvent {
            id: payment.id,
            chain_id: payment.chain_id,
            collection: payment.collection,
            token_id: payment.token_id,
            owner: payment.creator,
            buyer: payment.buyer,
            quantity: payment.quantity,
            amount: payment.amount,
            paid: payment.paid,
            currency: payment.currency,
            transaction_hash: payment.transaction_hash,
        };
        self.tell(at, 0, EventData::PaymentReceived(event))
    }
}
