use alloy::primitives::B256;
use serde::{Deserialize, Serialize};

use super::{Address, Amount, ChainId, EventId, FeeRecipient, MomentRef, Protocol, TokenId};

/// A collect that was paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// Id that follows from its event.
    pub id: EventId,
    /// Chain that it was made on.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Token in the collection.
    pub token_id: TokenId,
    /// Id of the moment.
    pub moment_id: EventId,
    /// Whose contracts the collection is of.
    pub protocol: Protocol,
    /// The moment's metadata URI at that time.
    pub uri: String,
    /// The collection's creator, who hears of the payment.
    pub creator: Address,
    /// Account that made the moment.
    pub moment_creator: Address,
    /// Who got how much of it.
    pub fee_recipients: Vec<FeeRecipient>,
    /// Account that the tokens went to.
    pub buyer: Address,
    /// How many tokens.
    pub quantity: Amount,
    /// What the seller got, in the currency's smallest unit: the price without the contract's fees.
    pub amount: Amount,
    /// What the buyer paid of the price, fees that are taken out of it included, those on top of it not.
    pub paid: Amount,
    /// The currency's contract; the zero address means the chain's own currency.
    pub currency: Address,
    /// Transaction that it was made in.
    pub transaction_hash: B256,
    /// Block that holds it.
    pub block: u64,
    /// Unix time of the block, in seconds.
    pub transferred_at: u64,
}

impl Payment {
    /// The moment that was paid for.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }
}

/// Why tokens moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransferKind {
    /// Somebody collected, paid or not.
    Collect,
    /// An admin minted to somebody else.
    Airdrop,
    /// The collection's creator got tokens without collecting them.
    Mint,
    /// One holder gave to another.
    Transfer,
    /// The holder destroyed them.
    Burn,
}

/// Tokens that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Id that follows from its event; tokens of one event that moves several kinds share it.
    pub id: EventId,
    /// Why.
    pub kind: TransferKind,
    /// Who had them; the zero address when they were minted.
    pub from: Address,
    /// Who has them now; the zero address when they were burned.
    pub to: Address,
    /// How many.
    pub quantity: Amount,
    /// Transaction that moved them.
    pub transaction_hash: B256,
    /// Unix time of the block, in seconds.
    pub transferred_at: u64,
}
