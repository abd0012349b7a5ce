use std::{fmt, str::FromStr};

use alloy::primitives::B256;
use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Amount,
    artist::ArtistId,
    event_id::EventId,
    invalid::Invalid,
    moment::{ChainId, MomentRef, TokenId},
    sale::SaleType,
    schema::text_schema,
    text::serde_as_text,
};

/// Protocol of a collection's contracts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// `native`: the service's own contracts.
    #[default]
    Native,
    /// `registry`: releases that artists register.
    Registry,
    /// `editions`: editions of one work, whose tokens are numbered.
    Editions,
}

impl FromStr for Protocol {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "native" => Ok(Self::Native),
            "registry" => Ok(Self::Registry),
            "editions" => Ok(Self::Editions),
            _ => Err(Invalid("must be native, registry or editions")),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Native => "native",
            Self::Registry => "registry",
            Self::Editions => "editions",
        })
    }
}

serde_as_text!(Protocol);

text_schema!(
    Protocol,
    "Protocol of a collection's contracts: the service's own (`native`), releases that artists register (`registry`), \
     or numbered editions of one work (`editions`).",
    "native",
    enum_values = ["native", "registry", "editions"],
);

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A collection in its current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Id of the event that created it.
    pub id: EventId,
    /// Chain of the contract.
    pub chain_id: ChainId,
    /// Address of the contract.
    pub address: Address,
    /// Protocol of the contract.
    pub protocol: Protocol,
    /// Name, at most [`MAX_NAME_KEPT`] characters.
    pub name: String,
    /// Metadata URI, at most [`MAX_URI_KEPT`] bytes.
    pub uri: String,
    /// Account that it was created for, which got every permission. The transaction's sender may be another.
    pub creator: Address,
    /// Accounts with the admin permission on the whole collection, ascending; at most [`MAX_ADMINS`].
    pub admins: Vec<Address>,
    /// Royalty of tokens without one of their own.
    pub royalty: Option<Royalty>,
    /// Whether the operator hid it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_withheld: bool,
    /// Unix time of the creation's block, in seconds.
    pub created_at: u64,
    /// Unix time of the last change's block, in seconds.
    pub updated_at: u64,
}

/// A token of a collection in its current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Id of the event that created it.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Protocol of the collection.
    pub protocol: Protocol,
    /// Metadata URI, at most [`MAX_URI_KEPT`] bytes.
    pub uri: String,
    /// Account that created it; the collection's creator if both were created together.
    pub creator: Address,
    /// Token-level admins, ascending, at most [`MAX_ADMINS`]. Collection-level admins aren't repeated here.
    pub admins: Vec<Address>,
    /// Most tokens that can be minted; 2^64 - 1 for an open edition.
    pub max_supply: Amount,
    /// Number of tokens minted so far.
    pub minted: Amount,
    /// Number of tokens burned so far.
    pub burned: Amount,
    /// Newest setting of each sale strategy; none of a strategy that was reset.
    pub sales: Vec<MomentSale>,
    /// Royalty of this token; `None` if it is the collection's.
    pub royalty: Option<Royalty>,
    /// Recipients of a sale's proceeds.
    pub fee_recipients: Vec<FeeRecipient>,
    /// Its copy in another collection, which its URI points to; [`Moment::uri`] is without that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<MovedTo>,
    /// The admin who hid it; `None` if it isn't hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<ArtistId>,
    /// Whether the operator hid it, its collection or its creator.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_withheld: bool,
    /// Unix time of the creation's block, in seconds.
    pub created_at: u64,
    /// Unix time of the last change's block, in seconds; a collect is no change.
    pub updated_at: u64,
}

/// Where a moment was moved to, on the same chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedTo {
    /// Contract of the other collection.
    pub collection: Address,
    /// The copy's token there.
    pub token_id: TokenId,
}

/// Most admins stored per collection or moment. Nothing onchain limits them, and a row must fit into 400 KB.
pub const MAX_ADMINS: usize = 1_000;

/// Most fee recipients stored per moment, for the same reason.
pub const MAX_FEE_RECIPIENTS: usize = 100;

/// A royalty on resale, as the contract declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Royalty {
    /// Share of the price, in hundredths of a percent.
    pub bps: u32,
    /// Account that receives the royalty.
    pub recipient: Address,
}

/// A recipient of a sale's proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeeRecipient {
    /// Account that receives the share.
    pub address: Address,
    /// Share of the proceeds, in millionths.
    pub millionths: u32,
}

/// A sale strategy's setting for a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentSale {
    /// The strategy.
    #[serde(rename = "type")]
    pub strategy: SaleType,
    /// Price of one token in the currency's smallest unit, without the contract's mint fee.
    pub price: Amount,
    /// The currency's contract; the zero address for the chain's own currency.
    pub currency: Address,
    /// Start, as Unix time in seconds.
    pub start: u64,
    /// End, as Unix time in seconds; 2^64 - 1 for no end.
    pub end: u64,
    /// Most tokens per address; 0 for no limit.
    pub max_per_address: u64,
    /// Account that receives the price; `None` if the contract names none.
    pub funds_recipient: Option<Address>,
    /// Root of the list's tree of hashes, where the sale is for a list; then each account of it has its own price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<B256>,
    /// Block and log index of the setting, by which the newest is found.
    pub set_in: (u64, u64),
}

/// Longest name stored, in characters. Nothing onchain limits it, and a page of 100 rows must stay far below 6 MB.
pub const MAX_NAME_KEPT: usize = 256;

/// Longest metadata URI stored, in bytes, for the same reason; a URI may contain the document itself.
pub const MAX_URI_KEPT: usize = 8 * 1024;

/// Cuts a name from the chain to [`MAX_NAME_KEPT`].
pub fn clip_name(name: &str) -> String {
    name.chars().take(MAX_NAME_KEPT).collect()
}

/// Cuts a metadata URI from the chain to [`MAX_URI_KEPT`].
pub fn clip_uri(uri: &str) -> String {
    uri.get(..uri.floor_char_boundary(MAX_URI_KEPT)).unwrap_or_default().to_owned()
}

impl Moment {
    /// Chain, collection and token of the moment.
    pub fn place(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }

    /// The sale in force to everybody: the newest setting of any strategy but the lists'.
    pub fn sale(&self) -> Option<&MomentSale> {
        self.sales.iter().filter(|sale| sale.strategy != SaleType::AllowList).max_by_key(|sale| sale.set_in)
    }

    /// The sale to the accounts of a list, beside that to everybody.
    pub fn allow_list(&self) -> Option<&MomentSale> {
        self.sales.iter().find(|sale| sale.strategy == SaleType::AllowList)
    }
}
