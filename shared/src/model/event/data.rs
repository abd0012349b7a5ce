use alloy::primitives::B256;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::subject::{About, Concerns};
use crate::model::{
    address::Address,
    amount::{Amount, WholeText},
    collection::{MomentSale, Protocol, Royalty},
    comment::{CommentId, CommentNonce},
    event_id::EventId,
    moment::{ChainId, MomentRef, TokenId},
    sale::SaleType,
    transaction::{TransactionId, TransactionStatus},
};

/// A collection, as of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CollectionEventData)]
pub struct CollectionEvent {
    /// Id of the collection.
    pub id: EventId,
    /// Chain of the contract.
    pub chain_id: ChainId,
    /// Address of the contract.
    pub collection: Address,
    /// Protocol of the contract.
    pub protocol: Protocol,
    /// Name.
    pub name: String,
    /// Metadata URI.
    pub uri: String,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Royalty of tokens without one of their own; null without one.
    #[schema(required = true)]
    pub royalty: Option<EventRoyalty>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A moment, as of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MomentEventData)]
pub struct MomentEvent {
    /// Id of the moment.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Protocol of the collection.
    pub protocol: Protocol,
    /// Metadata URI.
    pub uri: String,
    /// Account that created the moment.
    pub creator: Address,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Most tokens that can be minted; 18446744073709551615 means an open edition.
    pub max_supply: Amount,
    /// Royalty of the token; null if it is the collection's.
    #[schema(required = true)]
    pub royalty: Option<EventRoyalty>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A royalty on resale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = EventRoyalty)]
pub struct EventRoyalty {
    /// Share of the price, in hundredths of a percent.
    pub bps: u32,
    /// Account that receives it.
    pub recipient: Address,
}

/// The terms of one strategy for a moment, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SaleEventData)]
pub struct SaleEvent {
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Account that the collection was made for.
    pub owner: Address,
    /// The strategy.
    pub strategy: SaleType,
    /// Its terms; null once the sale was ended.
    #[schema(required = true)]
    pub sale: Option<SaleView>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A sale, in the words of `POST /sale`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Sale)]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    r#type: SaleType,
    /// In the currency's smallest unit.
    price_per_token: Amount,
    /// Unix time in seconds.
    sale_start: WholeText,
    /// Unix time in seconds; 18446744073709551615 means no end.
    sale_end: WholeText,
    /// 0 means unlimited.
    max_tokens_per_address: WholeText,
    /// Null where the contract has none.
    #[schema(required = true)]
    funds_recipient: Option<Address>,
    /// The currency's contract; the zero address means the chain's own.
    currency: Address,
}

/// Tokens of a moment that changed hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = TransferEventData)]
pub struct TransferEvent {
    /// Id of the transfer.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Account that had the tokens; the zero address for new ones.
    pub from: Address,
    /// Account that got them; the zero address for burned ones.
    pub to: Address,
    /// Number of tokens.
    pub quantity: Amount,
    /// Price of all of them in the currency's smallest unit; null without a sale, or with one of an unknown price.
    #[schema(required = true)]
    pub value: Option<Amount>,
    /// The currency's contract; the zero address means the chain's own. Null without a sale.
    #[schema(required = true)]
    pub currency: Option<Address>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CommentEventData)]
pub struct CommentEvent {
    /// Id of the comment at this service.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Account that commented.
    pub sender: Address,
    /// Text, cut to 2000 characters.
    pub comment: String,
    /// Id in the comments protocol; null for a mint-time comment.
    #[schema(required = true)]
    pub comment_id: Option<CommentId>,
    /// Id of the parent comment in the comments protocol; null unless this is a reply.
    #[schema(required = true)]
    pub reply_to_id: Option<CommentId>,
    /// Nonce in the comments protocol; null for a mint-time comment.
    #[schema(required = true)]
    pub nonce: Option<CommentNonce>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// All permissions of an account from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PermissionEventData)]
pub struct PermissionEvent {
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token, which may not exist yet; 0 stands for the whole collection.
    pub token_id: TokenId,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Account whose permissions they are.
    pub account: Address,
    /// Their names: ADMIN, MINTER, SALES, METADATA, FUNDS_MANAGER; of other protocols' permissions ADMIN alone.
    pub permissions: Vec<String>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A paid collect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PaymentEventData)]
pub struct PaymentEvent {
    /// Id of the payment.
    pub id: EventId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token_id: TokenId,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Account that got the tokens.
    pub buyer: Address,
    /// Number of tokens.
    pub quantity: Amount,
    /// The seller's proceeds, in the currency's smallest unit.
    pub amount: Amount,
    /// Price that the buyer paid, in the currency's smallest unit, without fees added on top.
    pub paid: Amount,
    /// The currency's contract; the zero address means the chain's own.
    pub currency: Address,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// The outcome of an artist's transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = TransactionEventData)]
pub struct TransactionEvent {
    /// Id of the transaction.
    pub id: TransactionId,
    /// Its chain.
    pub chain_id: ChainId,
    /// The artist's embedded wallet.
    pub account: Address,
    /// Progress.
    pub status: TransactionStatus,
    /// Hash that was mined; null if none was.
    #[schema(value_type = Option<String>, required, pattern = "^0x[0-9a-f]{64}$")]
    pub hash: Option<B256>,
    /// Block that has it; null without one.
    #[schema(required)]
    pub block: Option<u64>,
    /// Why nothing was done; null for `mined`.
    #[schema(required)]
    pub reason: Option<String>,
    /// What it created, as the answer of its endpoint names it.
    #[schema(value_type = Object)]
    pub result: Map<String, Value>,
}

/// An artist whose profile or wallets changed. `GET /artists/{address}` has the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ArtistEventData)]
pub struct ArtistEvent {
    /// The artist's embedded wallet.
    pub address: Address,
}

impl SaleView {
    /// A strategy's setting.
    pub fn of(sale: &MomentSale) -> Self {
        Self {
            r#type: sale.strategy,
            price_per_token: sale.price,
            sale_start: WholeText(sale.start),
            sale_end: WholeText(sale.end),
            max_tokens_per_address: WholeText(sale.max_per_address),
            funds_recipient: sale.funds_recipient,
            currency: sale.currency,
        }
    }
}

impl From<Royalty> for EventRoyalty {
    fn from(royalty: Royalty) -> Self {
        Self { bps: royalty.bps, recipient: royalty.recipient }
    }
}

impl Concerns for CollectionEvent {
    fn about(&self) -> About {
        About::Collection(self.chain_id, self.collection)
    }

    fn accounts(&self) -> Vec<Address> {
        vec![self.owner]
    }
}

macro_rules! of_moments {
    ($($type:ident: $($account:ident),+;)+) => {$(
        impl Concerns for $type {
            fn about(&self) -> About {
                About::Moment(MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id })
            }

            fn accounts(&self) -> Vec<Address> {
                vec![$(self.$account),+]
            }
        }
    )+};
}

of_moments! {
    MomentEvent: owner, creator;
    SaleEvent: owner;
    TransferEvent: owner, from, to;
    CommentEvent: owner, sender;
    PermissionEvent: owner, account;
    PaymentEvent: owner, buyer;
}

impl Concerns for TransactionEvent {
    fn about(&self) -> About {
        About::Transaction(self.id)
    }

    fn accounts(&self) -> Vec<Address> {
        vec![self.account]
    }
}

impl Concerns for ArtistEvent {
    fn about(&self) -> About {
        About::Artist(self.address)
    }

    fn accounts(&self) -> Vec<Address> {
        vec![self.address]
    }
}
