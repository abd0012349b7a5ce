use std::{fmt, str::FromStr};

use alloy::primitives::B256;
use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Amount,
    event_id::EventId,
    invalid::Invalid,
    moment::{ChainId, MomentRef, TokenId},
    payment::Payment,
    schema::text_schema,
    text::serde_as_text,
};

/// How an account got tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransferType {
    /// Collected through a sale, perhaps for nothing.
    Payment,
    /// Minted without a sale.
    Airdrop,
    /// From another account.
    Transfer,
}

impl TransferType {
    /// All types.
    pub const EVERY: [Self; 3] = [Self::Payment, Self::Airdrop, Self::Transfer];
}

impl FromStr for TransferType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "payment" => Ok(Self::Payment),
            "airdrop" => Ok(Self::Airdrop),
            "transfer" => Ok(Self::Transfer),
            _ => Err(Invalid("must be payment, airdrop or transfer")),
        }
    }
}

impl fmt::Display for TransferType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Payment => "payment",
            Self::Airdrop => "airdrop",
            Self::Transfer => "transfer",
        })
    }
}

serde_as_text!(TransferType);

text_schema!(
    TransferType,
    "How an account got tokens: through a sale (`payment`), by a mint without one (`airdrop`), or from another account \
     (`transfer`).",
    "airdrop",
    enum_values = ["payment", "airdrop", "transfer"],
);

/// Tokens of one moment that an account got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Id, from that of its event.
    pub id: EventId,
    /// How they were got.
    #[serde(rename = "type")]
    pub r#type: TransferType,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Creator of the collection.
    pub creator: Address,
    /// Account that had the tokens; the zero address for new ones.
    pub from: Address,
    /// Account that got them.
    pub to: Address,
    /// Number of tokens.
    pub quantity: Amount,
    /// Price of all of them in the currency's smallest unit; `None` without a sale, or with one of an unknown price.
    pub value: Option<Amount>,
    /// The currency's contract; the zero address for the chain's own currency.
    pub currency: Option<Address>,
    /// Transaction of the transfer.
    pub transaction_hash: B256,
    /// Number of its block.
    #[serde(default)]
    pub block: u64,
    /// Index of the event's log in the block.
    #[serde(default)]
    pub log: u64,
    /// Unix time of the block, in seconds.
    pub transferred_at: u64,
}

impl From<Payment> for Transfer {
    fn from(payment: Payment) -> Self {
        Self {
            id: Self::id_of_purchase(payment.id),
            r#type: TransferType::Payment,
            chain_id: payment.chain_id,
            collection: payment.collection,
            token_id: payment.token_id,
            creator: payment.creator,
            from: Address::ZERO,
            to: payment.buyer,
            quantity: payment.quantity,
            value: Some(payment.paid),
            currency: Some(payment.currency),
            transaction_hash: payment.transaction_hash,
            block: payment.block,
            log: payment.log,
            transferred_at: payment.transferred_at,
        }
    }
}

impl Transfer {
    /// The id of the transfer of a purchase with this id.
    pub fn id_of_purchase(purchase: EventId) -> EventId {
        purchase.of_its("transfer")
    }

    /// The moment.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }
}
