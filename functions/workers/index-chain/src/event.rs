//! Events of contracts in a form common to all protocols.

use alloy::primitives::{Address, B256, U256};
use shared::{
    model::{FeeRecipient, MAX_URI_KEPT, MomentSale, Protocol, Royalty, clip_comment, clip_name},
    store::engine::{BlockId, EventPlace},
};

/// A decoded event and its place in the chain.
#[derive(Clone, Debug)]
pub struct ChainEvent {
    pub emitter: Address,
    /// The emitter's protocol.
    pub protocol: Protocol,
    pub at: Position,
    pub fact: Fact,
}

impl ChainEvent {
    /// The block that has the event.
    pub fn block(&self) -> BlockId {
        BlockId { number: self.at.block, hash: self.at.block_hash }
    }

    /// Sort key of the order in which events are applied: the chain's, except that each transaction's new collections come
    /// first, since some factories announce them after the collection's own events.
    pub fn order(&self) -> (u64, EventPlace) {
        let is_later = !matches!(self.fact, Fact::CollectionCreated(_));
        let (transaction, log) = (self.at.transaction_index, self.at.log_index);
        (self.at.block, EventPlace { transaction, is_later, log, tokens: 0 })
    }
}

/// A place in the chain.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub block: u64,
    pub block_hash: B256,
    /// The block's Unix time in seconds.
    pub time: u64,
    /// Hash of the transaction.
    pub transaction: B256,
    pub transaction_index: u64,
    pub log_index: u64,
}

/// Content of an event. Tokens belong to the emitter unless the fact names a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A new collection.
    CollectionCreated(NewCollection),
    /// The name or the metadata URI of a collection changed, or both.
    CollectionChanged { name: Option<String>, uri: Option<String> },
    /// A new token of a collection.
    MomentCreated { token: U256, sender: Address, uri: String, max_supply: U256 },
    /// A token's new metadata URI.
    UriSet { token: U256, uri: String },
    /// All permissions of an account from now on; token 0 stands for the whole collection.
    PermissionsSet { token: U256, account: Address, mask: U256, is_admin: bool },
    /// Token 0 stands for every token without royalties of its own.
    RoyaltySet { token: U256, royalty: Royalty },
    /// Terms of one strategy from now on; `is_reset` ends the sale.
    SaleSet { collection: Address, token: U256, sale: MomentSale, is_reset: bool },
    /// A new revenue split.
    SplitCreated { split: Address, recipients: Vec<FeeRecipient> },
    /// `tokens` are ids and quantities.
    Transferred { operator: Address, from: Address, to: Address, tokens: Vec<(U256, U256)> },
    /// Numbered tokens of a tier were minted.
    EditionMinted { tier: u8, to: Address, quantity: u64, first_token: U256 },
    /// The new base URI of a tier's metadata.
    TierUriSet { collection: Address, tier: u8, uri: String },
    /// A purchase through a sale.
    Purchased(Purchase),
    /// A comment made while collecting.
    MintCommented { collection: Address, token: U256, sender: Address, text: String },
    /// A comment or reply in the comments protocol.
    Commented(ProtocolComment),
    /// Sparks given to a comment.
    Sparked { comment: B256, quantity: U256 },
}

impl ChainEvent {
    /// The metadata URI that the event sets.
    pub fn uri(&self) -> Option<&str> {
        match &self.fact {
            Fact::CollectionCreated(new) => Some(&new.uri),
            Fact::CollectionChanged { uri, .. } => uri.as_deref(),
            Fact::MomentCreated { uri, .. } | Fact::UriSet { uri, .. } => Some(uri),
            _ => None,
        }
    }
}

/// A collection as announced by its factory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCollection {
    pub address: Address,
    pub creator: Address,
    /// Empty where the factory doesn't tell it.
    pub name: String,
    /// Metadata URI; empty where the factory doesn't tell it.
    pub uri: String,
    pub royalty: Option<Royalty>,
    /// Admins without an event that makes them one.
    pub admins: Vec<Address>,
}

/// A purchase through a sale. The same transaction transfers the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purchase {
    pub collection: Address,
    pub token: U256,
    /// `None` where the event doesn't tell it.
    pub quantity: Option<U256>,
    /// Contract whose sale price applies.
    pub seller: Address,
    /// Rewards that the contract took out of the price.
    pub taken: U256,
}

/// A comment of the comments protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolComment {
    pub collection: Address,
    pub token: U256,
    pub sender: Address,
    /// Id in the protocol.
    pub id: B256,
    /// Nonce in the protocol.
    pub nonce: B256,
    /// Protocol id of the parent comment.
    pub reply_to: Option<B256>,
    pub text: String,
    /// Unix time in seconds.
    pub time: u64,
    /// Sparks given with the comment itself.
    pub sparks: u64,
    /// The mint-time comment that this one repeats.
    pub original: Option<OriginalComment>,
}

/// A comment from before the comments protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalComment {
    /// Hash of its transaction.
    pub transaction: B256,
    /// Index of its log in the block, once found.
    pub log_index: Option<u64>,
}

impl Fact {
    /// The fact with texts about as long as they are stored: a log may have megabytes.
    pub fn clipped(mut self) -> Self {
        // Longer than what is stored: such a URI is known by its length.
        let clip_uri = |uri: &str| uri[..uri.floor_char_boundary(MAX_URI_KEPT + 8)].to_owned();
        match &mut self {
            Self::CollectionCreated(new) => (new.name, new.uri) = (clip_name(&new.name), clip_uri(&new.uri)),
            Self::CollectionChanged { name, uri } => {
                (*name, *uri) = (name.as_deref().map(clip_name), uri.as_deref().map(clip_uri));
            }
            Self::MomentCreated { uri, .. } | Self::UriSet { uri, .. } | Self::TierUriSet { uri, .. } => {
                *uri = clip_uri(uri);
            }
            Self::MintCommented { text, .. } => *text = clip_comment(std::mem::take(text)),
            Self::Commented(said) => said.text = clip_comment(std::mem::take(&mut said.text)),
            _ => {}
        }
        self
    }
}
