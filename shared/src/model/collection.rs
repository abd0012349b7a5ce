use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{
    Address, Amount, ChainId, EventId, Invalid, MomentRef, SaleType, TokenId, schema::text_schema, serde_as_text,
};

/// Which protocol's contracts a collection is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// `native`: the service's own.
    #[default]
    Native,
    /// `registry`: releases that their artists register.
    Registry,
    /// `editions`: editions of one work, each token of its own number.
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
    "Which protocol's contracts a collection is of: the service's own, releases that artists register, or editions.",
    "native",
    enum_values = ["native", "registry", "editions"],
);

/// A collection as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Id that follows from its creation.
    pub id: EventId,
    /// Chain of the contract.
    pub chain_id: ChainId,
    /// The contract.
    pub address: Address,
    /// Whose contracts it is of.
    pub protocol: Protocol,
    /// Its name.
    pub name: String,
    /// Its metadata URI.
    pub uri: String,
    /// Account that it was made for, whoever sent the transaction: it got every permission.
    pub creator: Address,
    /// Accounts with the admin permission on the whole collection, in their order; at most [`MAX_ADMINS`].
    pub admins: Vec<Address>,
    /// Royalties of tokens that have none of their own.
    pub royalty: Option<Royalty>,
    /// Unix time of the creation's block, in seconds.
    pub created_at: u64,
    /// Unix time of the last change's block, in seconds.
    pub updated_at: u64,
}

/// A token of a collection as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Id that follows from its creation.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Token in the collection.
    pub token_id: TokenId,
    /// Whose contracts it is of.
    pub protocol: Protocol,
    /// Its metadata URI.
    pub uri: String,
    /// Account that made it; the collection's creator where it was made together with the collection.
    pub creator: Address,
    /// Accounts with the admin permission on this token, in their order; at most [`MAX_ADMINS`]. Those of the collection
    /// may do the same.
    pub admins: Vec<Address>,
    /// Most tokens that can be minted; 2^64 - 1 means an open edition.
    pub max_supply: Amount,
    /// How many were minted.
    pub minted: Amount,
    /// How many of them were burned.
    pub burned: Amount,
    /// What each strategy was last told, at most one of each; a strategy that was reset has none.
    pub sales: Vec<MomentSale>,
    /// Royalties, where they aren't the collection's.
    pub royalty: Option<Royalty>,
    /// Who gets how much of what its sale brings.
    pub fee_recipients: Vec<FeeRecipient>,
    /// Unix time of the creation's block, in seconds.
    pub created_at: u64,
    /// Unix time of the last change's block, in seconds. Being collected changes nothing.
    pub updated_at: u64,
}

/// Most admins listed of a collection or a moment; nothing onchain limits them, and a row must fit into 400 KB.
pub const MAX_ADMINS: usize = 1_000;

/// Most fee recipients listed, for the same reason.
pub const MAX_FEE_RECIPIENTS: usize = 100;

/// What resale brings, by the token's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Royalty {
    /// Hundredths of a percent of the price.
    pub bps: u32,
    /// Who gets it.
    pub recipient: Address,
}

/// Who gets how much of what a sale brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeeRecipient {
    /// The account.
    pub address: Address,
    /// Its part, in millionths.
    pub millionths: u32,
}

/// What a sale strategy was told of a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentSale {
    /// The strategy.
    #[serde(rename = "type")]
    pub strategy: SaleType,
    /// Price of one token in the currency's smallest unit, without the contract's mint fee.
    pub price: Amount,
    /// The currency's contract; the zero address means the chain's own currency.
    pub currency: Address,
    /// Unix time in seconds.
    pub start: u64,
    /// Unix time in seconds; the largest value means for ever.
    pub end: u64,
    /// Most tokens for one address; 0 means as many as one likes.
    pub max_per_address: u64,
    /// Who gets the price; `None` where the contract names nobody.
    pub funds_recipient: Option<Address>,
    /// Block and log index of the setting: the newest counts.
    pub set_in: (u64, u64),
}

/// Longest name and longest metadata URI kept, in characters and in bytes. A URI may hold a document itself; nothing
/// onchain limits either, and a page of a hundred rows has to stay far under 6 MB.
pub const MAX_NAME_KEPT: usize = 256;

/// See [`MAX_NAME_KEPT`].
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
    /// Where it is.
    pub fn place(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }

    /// The sale in force: what was set last, of whichever strategy.
    pub fn sale(&self) -> Option<&MomentSale> {
        self.sales.iter().max_by_key(|sale| sale.set_in)
    }
}
