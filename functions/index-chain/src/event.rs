//! What contracts say, in words that hold for every protocol.

use alloy::primitives::{Address, B256, U256};
use shared::model::{FeeRecipient, MomentSale, Protocol, Royalty};

/// An event of one of the contracts that are followed, with where it is in the chain.
#[derive(Clone, Debug)]
pub struct ChainEvent {
    /// Contract that emitted it.
    pub emitter: Address,
    /// Whose contract that is.
    pub protocol: Protocol,
    /// Where it is.
    pub at: Position,
    /// What it says.
    pub fact: Fact,
}

impl ChainEvent {
    /// The order in which events are applied: that of the chain, but in each transaction the making of collections comes
    /// first, which some factories announce only after the collection's own events.
    pub fn order(&self) -> (u64, u64, bool, u64) {
        let is_later = !matches!(self.fact, Fact::CollectionCreated(_));
        (self.at.block, self.at.transaction_index, is_later, self.at.log_index)
    }
}

/// A place in the chain.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Number of the block.
    pub block: u64,
    /// Hash of the block.
    pub block_hash: B256,
    /// Unix time of the block in seconds.
    pub time: u64,
    /// The transaction.
    pub transaction: B256,
    /// Its position in the block.
    pub transaction_index: u64,
    /// Position among the block's logs.
    pub log_index: u64,
}

/// What an event says. Tokens are those of the collection that emitted it, unless it names one.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A factory made a collection.
    CollectionCreated(NewCollection),
    /// A collection has another name, another metadata URI, or both.
    CollectionChanged { name: Option<String>, uri: Option<String> },
    /// A collection has a new token.
    MomentCreated { token: U256, sender: Address, uri: String, max_supply: U256 },
    /// A token has another metadata URI.
    UriSet { token: U256, uri: String },
    /// What an account may do with a token, or with token 0 on the whole collection, from now on.
    PermissionsSet { token: U256, account: Address, mask: U256, is_admin: bool },
    /// Royalties of a token, or with token 0 of all that have none of their own.
    RoyaltySet { token: U256, royalty: Royalty },
    /// How a strategy sells a moment from now on; no longer, without a sale.
    SaleSet { collection: Address, token: U256, sale: MomentSale, is_reset: bool },
    /// A revenue split was made.
    SplitCreated { split: Address, recipients: Vec<FeeRecipient> },
    /// Tokens moved: ids and quantities.
    Transferred { operator: Address, from: Address, to: Address, tokens: Vec<(U256, U256)> },
    /// Numbered tokens of a tier were made for somebody.
    EditionMinted { tier: u8, to: Address, quantity: u64, first_token: U256 },
    /// A tier's metadata is somewhere else.
    TierUriSet { collection: Address, tier: u8, uri: String },
    /// Somebody collected.
    Purchased(Purchase),
    /// Somebody said something as they collected.
    MintCommented { collection: Address, token: U256, sender: Address, text: String },
    /// Somebody commented or replied.
    Commented(ProtocolComment),
    /// Somebody gave sparks to a comment.
    Sparked { comment: B256, quantity: U256 },
}

impl ChainEvent {
    /// The metadata URI that it tells of.
    pub fn uri(&self) -> Option<&str> {
        match &self.fact {
            Fact::CollectionCreated(new) => Some(&new.uri),
            Fact::CollectionChanged { uri, .. } => uri.as_deref(),
            Fact::MomentCreated { uri, .. } | Fact::UriSet { uri, .. } => Some(uri),
            _ => None,
        }
    }
}

/// A collection as its factory announces it.
#[derive(Clone, Debug)]
pub struct NewCollection {
    /// Its contract.
    pub address: Address,
    /// Account that it is made for.
    pub creator: Address,
    /// Its name; empty where the factory doesn't say.
    pub name: String,
    /// Its metadata URI; empty where the factory doesn't say.
    pub uri: String,
    /// Royalties of its tokens.
    pub royalty: Option<Royalty>,
    /// Accounts that are admins without an event that says so.
    pub admins: Vec<Address>,
}

/// A collect through a sale. The transfer of the tokens is in the same transaction.
#[derive(Clone, Copy, Debug)]
pub struct Purchase {
    /// Contract of the collection.
    pub collection: Address,
    /// The token.
    pub token: U256,
    /// How many, where the event says it.
    pub quantity: Option<U256>,
    /// Contract that sold them, whose price counts.
    pub seller: Address,
    /// What the contract took out of the price.
    pub taken: U256,
}

/// A comment of the comments protocol.
#[derive(Clone, Debug)]
pub struct ProtocolComment {
    /// Contract of the collection.
    pub collection: Address,
    /// The token.
    pub token: U256,
    /// Who said it.
    pub sender: Address,
    /// Its protocol id.
    pub id: B256,
    /// Its protocol nonce.
    pub nonce: B256,
    /// Id of the comment that it replies to.
    pub reply_to: Option<B256>,
    /// What was said.
    pub text: String,
    /// Unix time in seconds.
    pub time: u64,
    /// Sparks that it was made with.
    pub sparks: u64,
}
