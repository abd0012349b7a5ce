//! Events of contracts in a form common to all protocols.

use std::collections::HashMap;

use alloy::primitives::{Address, B256, U256};
use shared::{
    model::{FeeRecipient, MAX_URI_KEPT, MomentSale, Protocol, Referral, Royalty, clip_comment, clip_name},
    store::engine::{BlockId, EventPlace},
};

/// Collections and their protocols.
pub type Collections = HashMap<Address, Protocol>;

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
    CollectionCreated(NewCollection),
    CollectionChanged(CollectionChanged),
    MomentCreated(MomentCreated),
    UriSet(UriSet),
    PermissionsSet(PermissionsSet),
    RoyaltySet(RoyaltySet),
    SaleSet(SaleSet),
    SplitCreated(SplitCreated),
    Transferred(Transferred),
    EditionMinted(EditionMinted),
    TierUriSet(TierUriSet),
    Purchased(Purchase),
    MintCommented(MintCommented),
    Commented(ProtocolComment),
    Sparked(Sparked),
}

/// A collection as announced by its factory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCollection {
    pub address: Address,
    /// The account that the event names as the creator.
    pub creator: Address,
    /// The account that called the factory, where the event has it; else the creator.
    pub sender: Address,
    /// Empty where the factory doesn't name it.
    pub name: String,
    /// Metadata URI; empty where the factory doesn't name it.
    pub uri: String,
    pub royalty: Option<Royalty>,
    /// Admins without an event that makes them one.
    pub admins: Vec<Address>,
}

/// The new name or metadata URI of a collection, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionChanged {
    pub name: Option<String>,
    pub uri: Option<String>,
}

/// A new token of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentCreated {
    pub token: U256,
    pub creator: Address,
    /// Whether the creator is an argument, which the sender chose, and not the sender.
    pub is_named: bool,
    pub uri: String,
    pub max_supply: U256,
}

/// A token's new metadata URI; token 0 stands for the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriSet {
    pub token: U256,
    pub uri: String,
}

/// All permissions of an account from now on; token 0 stands for the whole collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermissionsSet {
    pub token: U256,
    pub account: Address,
    pub mask: U256,
    pub is_admin: bool,
}

/// New royalties; token 0 stands for every token without royalties of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoyaltySet {
    pub token: U256,
    pub royalty: Royalty,
}

/// Terms of one strategy from now on; `is_reset` ends the sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleSet {
    pub collection: Address,
    pub token: U256,
    pub sale: MomentSale,
    pub is_reset: bool,
}

/// A new revenue split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitCreated {
    pub split: Address,
    pub recipients: Vec<FeeRecipient>,
}

/// Tokens that changed hands, were minted or burned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    pub operator: Address,
    pub from: Address,
    pub to: Address,
    /// Ids and quantities.
    pub tokens: Vec<(U256, U256)>,
}

/// Numbered tokens of a tier that were minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditionMinted {
    pub tier: u8,
    pub to: Address,
    pub quantity: u64,
    pub first_token: U256,
}

/// The new base URI of a tier's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierUriSet {
    pub collection: Address,
    pub tier: u8,
    pub uri: String,
}

/// A purchase through a sale. The same transaction transfers the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purchase {
    pub collection: Address,
    pub token: U256,
    /// `None` where the event doesn't have it.
    pub quantity: Option<U256>,
    /// Contract whose sale price applies.
    pub seller: Address,
    /// Wei that came with it, the protocol's fee among them.
    pub value: U256,
    /// The protocol's fee in wei; `None` where it isn't known.
    pub fee: Option<U256>,
    /// Rewards that the contract took out of the price.
    pub taken: U256,
    /// Who sent the buyer, and the reward for it.
    pub referral: Option<Referral>,
}

/// A comment made while collecting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MintCommented {
    pub collection: Address,
    pub token: U256,
    pub sender: Address,
    pub text: String,
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

/// Sparks given to a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparked {
    pub comment: B256,
    pub quantity: U256,
}

impl Fact {
    /// The fact with texts about as long as they are stored: a log may have megabytes.
    pub fn clipped(mut self) -> Self {
        // Longer than what is stored: such a URI is known by its length.
        let clip_uri = |uri: &mut String| uri.truncate(uri.floor_char_boundary(MAX_URI_KEPT + 8));
        match &mut self {
            Self::CollectionCreated(NewCollection { name, uri, .. }) => {
                *name = clip_name(name);
                clip_uri(uri);
            }
            Self::CollectionChanged(CollectionChanged { name, uri }) => {
                *name = name.as_deref().map(clip_name);
                uri.as_mut().map(clip_uri);
            }
            Self::MomentCreated(MomentCreated { uri, .. })
            | Self::UriSet(UriSet { uri, .. })
            | Self::TierUriSet(TierUriSet { uri, .. }) => clip_uri(uri),
            Self::MintCommented(MintCommented { text, .. }) | Self::Commented(ProtocolComment { text, .. }) => {
                *text = clip_comment(std::mem::take(text));
            }
            Self::PermissionsSet(_)
            | Self::RoyaltySet(_)
            | Self::SaleSet(_)
            | Self::SplitCreated(_)
            | Self::Transferred(_)
            | Self::EditionMinted(_)
            | Self::Purchased(_)
            | Self::Sparked(_) => {}
        }
        self
    }
}
