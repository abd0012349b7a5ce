use alloy::primitives::B256;
use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Amount,
    collection::{FeeRecipient, Protocol},
    event_id::EventId,
    moment::{ChainId, MomentRef, TokenId},
};

/// A paid collect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// Id of its event.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Id of the moment.
    pub moment_id: EventId,
    /// Protocol of the collection.
    pub protocol: Protocol,
    /// Metadata URI of the moment at that time.
    pub uri: String,
    /// Creator of the collection, who is notified.
    pub creator: Address,
    /// Account that created the moment.
    pub moment_creator: Address,
    /// Recipients of the proceeds.
    pub fee_recipients: Vec<FeeRecipient>,
    /// Account that got the tokens.
    pub buyer: Address,
    /// Number of tokens.
    pub quantity: Amount,
    /// Proceeds in the currency's smallest unit: the price without the contract's fees.
    pub amount: Amount,
    /// Price that the buyer paid: includes fees taken out of it, but not fees added on top.
    pub paid: Amount,
    /// The currency's contract; the zero address for the chain's own currency.
    pub currency: Address,
    /// Who sent the buyer.
    #[serde(default)]
    pub referral: Option<Referral>,
    /// Transaction of the collect.
    pub transaction_hash: B256,
    /// Number of its block.
    pub block: u64,
    /// Index of the event's log in the block.
    #[serde(default)]
    pub log: u64,
    /// Unix time of the block, in seconds.
    pub transferred_at: u64,
}

/// Who sent a buyer, and got a reward of the protocol for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Referral {
    /// The account that got it.
    pub account: Address,
    /// In the smallest unit of the payment's currency.
    pub reward: Amount,
}

impl Payment {
    /// The moment that was collected.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }
}
