//! The events of the chain's log of events.

use alloy::primitives::U256;
use shared::{
    chain::protocol::permission::Permission,
    model::{
        Collection, CollectionEvent, CommentEvent, EventData, Moment, MomentEvent, MomentSale, Payment, PaymentEvent,
        PermissionEvent, Protocol, SaleEvent, SaleType, SaleView, Transfer, TransferEvent, TransferType,
    },
    store::chain::NewComment,
};

use crate::event::{PermissionsSet, Position};

/// A collection as it is after a log.
pub fn collection(at: &Position, collection: &Collection) -> CollectionEvent {
    let of = collection.clone();
    CollectionEvent {
        id: of.id,
        chain_id: of.chain_id,
        collection: of.address,
        protocol: of.protocol,
        name: of.name,
        uri: of.uri,
        owner: of.creator,
        royalty: of.royalty.map(Into::into),
        transaction_hash: at.transaction,
    }
}

/// A moment as it is after a log.
pub fn moment(at: &Position, moment: &Moment, collection: &Collection) -> MomentEvent {
    MomentEvent {
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
    }
}

/// The new terms of a strategy; none end its sale.
pub fn sale(
    at: &Position,
    collection: &Collection,
    token: U256,
    strategy: SaleType,
    terms: Option<&MomentSale>,
) -> SaleEvent {
    SaleEvent {
        chain_id: collection.chain_id,
        collection: collection.address,
        token_id: token.into(),
        owner: collection.creator,
        strategy,
        sale: terms.map(SaleView::of),
        transaction_hash: at.transaction,
    }
}

/// All permissions of an account.
pub fn permissions(at: &Position, collection: &Collection, set: &PermissionsSet) -> PermissionEvent {
    let has = |permission: &Permission| match permission {
        Permission::Admin => set.is_admin,
        other => collection.protocol == Protocol::Native && other.is_among(set.mask),
    };
    PermissionEvent {
        chain_id: collection.chain_id,
        collection: collection.address,
        token_id: set.token.into(),
        owner: collection.creator,
        account: set.account.into(),
        permissions: Permission::ALL.iter().filter(|it| has(it)).map(|it| it.name().to_owned()).collect(),
        transaction_hash: at.transaction,
    }
}

/// A transfer, or what was collected by it.
pub fn transfer(transfer: &Transfer) -> EventData {
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
    match transfer.r#type {
        TransferType::Payment => EventData::MomentCollected(event),
        TransferType::Airdrop | TransferType::Transfer => EventData::MomentTransferred(event),
    }
}

/// A new comment.
pub fn comment(at: &Position, new: &NewComment, collection: &Collection) -> CommentEvent {
    let NewComment { moment, comment, .. } = new;
    CommentEvent {
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
    }
}

/// A payment.
pub fn payment(payment: &Payment) -> PaymentEvent {
    PaymentEvent {
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
    }
}
