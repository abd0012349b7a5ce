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
    moderation::{Action, Reason, Subject},
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
    /// Name; empty if the operator hid the collection.
    pub name: String,
    /// Metadata URI; empty if the operator hid the collection.
    pub uri: String,
    /// Account that the collection was made for.
    pub owner: Address,
    /// Royalty of tokens without one of their own; null without one.
    #[schema(required = true)]
    pub royalty: Option<RoyaltyView>,
    /// Transaction of the event.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    pub transaction_hash: B256,
}

/// A royalty on resale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Royalty)]
pub struct RoyaltyView {
    /// Share of the price, in hundredths of a percent.
    pub bps: u32,
    /// Account that receives it.
    pub recipient: Address,
}

/// A sale, in the words of `POST /sale`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Sale)]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    /// Strategy.
    pub r#type: SaleType,
    /// In the currency's smallest unit; 0 of `allowlistMint`, where each account has its own.
    pub price_per_token: Amount,
    /// Unix time in seconds.
    pub sale_start: WholeText,
    /// Unix time in seconds; 18446744073709551615 means no end.
    pub sale_end: WholeText,
    /// 0 means unlimited.
    pub max_tokens_per_address: WholeText,
    /// Null where the contract has none.
    #[schema(required = true)]
    pub funds_recipient: Option<Address>,
    /// The currency's contract; the zero address means the chain's own.
    pub currency: Address,
}

/// A sale to the accounts of a list, each with a price and a limit of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AllowList)]
#[serde(rename_all = "camelCase")]
pub struct AllowListView {
    /// Root of the list's tree of hashes.
    #[schema(
        value_type = String,
        pattern = "^0x[0-9a-f]{64}$",
        examples("0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f")
    )]
    pub root: B256,
    /// Unix time in seconds.
    pub sale_start: WholeText,
    /// Unix time in seconds; 18446744073709551615 means no end.
    pub sale_end: WholeText,
    /// Null where the contract has none.
    #[schema(required = true)]
    pub funds_recipient: Option<Address>,
}

/// Events of moments: what all of them say beside their own fields, and the accounts that each concerns.
macro_rules! moment_events {
    ($(
        $(#[$about:meta])+
        $name:ident of $($account:ident),+ { $($(#[$field_about:meta])+ $field:ident: $type:ty,)+ }
    )+) => {$(
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        $(#[$about])+
        pub struct $name {
            /// Chain of the collection.
            pub chain_id: ChainId,
            /// Contract of the collection.
            pub collection: Address,
            /// Id of the token in the collection.
            pub token_id: TokenId,
            $($(#[$field_about])+ pub $field: $type,)+
            /// Account that the collection was made for.
            pub owner: Address,
            /// Transaction of the event.
            #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
            pub transaction_hash: B256,
        }

        impl Concerns for $name {
            fn about(&self) -> About {
                About::Moment(MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id })
            }

            fn accounts(&self) -> Vec<Address> {
                vec![$(self.$account),+]
            }
        }
    )+};
}

moment_events! {
    /// A moment, as of the event.
    #[schema(as = MomentEventData)]
    MomentEvent of owner, creator {
        /// Id of the moment.
        id: EventId,
        /// Protocol of the collection.
        protocol: Protocol,
        /// Metadata URI; empty if the operator hid the moment.
        uri: String,
        /// Account that created the moment.
        creator: Address,
        /// Most tokens that can be minted; 18446744073709551615 means an open edition.
        max_supply: Amount,
        /// Royalty of the token; null if it is the collection's.
        #[schema(required = true)]
        royalty: Option<RoyaltyView>,
    }

    /// The terms of one strategy for a moment, which may not exist yet.
    #[schema(as = SaleEventData)]
    SaleEvent of owner {
        /// The strategy.
        strategy: SaleType,
        /// Its terms; null once the sale was ended.
        #[schema(required = true)]
        sale: Option<SaleView>,
    }

    /// Tokens of a moment that changed hands.
    #[schema(as = TransferEventData)]
    TransferEvent of owner, from, to {
        /// Id of the transfer.
        id: EventId,
        /// Account that had the tokens; the zero address for new ones.
        from: Address,
        /// Account that got them; the zero address for burned ones.
        to: Address,
        /// Number of tokens.
        quantity: Amount,
        /// Price of all of them in the currency's smallest unit; null without a sale, or with one of an unknown price.
        #[schema(required = true)]
        value: Option<Amount>,
        /// The currency's contract; the zero address means the chain's own. Null without a sale.
        #[schema(required = true)]
        currency: Option<Address>,
    }

    /// A comment.
    #[schema(as = CommentEventData)]
    CommentEvent of owner, sender {
        /// Id of the comment at this service.
        id: EventId,
        /// Account that commented.
        sender: Address,
        /// Text, cut to 2000 characters; empty if the operator hid it.
        comment: String,
        /// Id in the comments protocol; null for a mint-time comment.
        #[schema(required = true)]
        comment_id: Option<CommentId>,
        /// Id of the parent comment in the comments protocol; null unless this is a reply.
        #[schema(required = true)]
        reply_to_id: Option<CommentId>,
        /// Nonce in the comments protocol; null for a mint-time comment.
        #[schema(required = true)]
        nonce: Option<CommentNonce>,
    }

    /// All permissions of an account from now on. The token may not exist yet; 0 stands for the whole collection.
    #[schema(as = PermissionEventData)]
    PermissionEvent of owner, account {
        /// Account whose permissions they are.
        account: Address,
        /// Their names: ADMIN, MINTER, SALES, METADATA, FUNDS_MANAGER; of other protocols' permissions ADMIN alone.
        permissions: Vec<String>,
    }

    /// A paid collect.
    #[schema(as = PaymentEventData)]
    PaymentEvent of owner, buyer {
        /// Id of the payment.
        id: EventId,
        /// Account that got the tokens.
        buyer: Address,
        /// Number of tokens.
        quantity: Amount,
        /// The seller's proceeds, in the currency's smallest unit.
        amount: Amount,
        /// Price that the buyer paid, in the currency's smallest unit, without fees added on top.
        paid: Amount,
        /// The currency's contract; the zero address means the chain's own.
        currency: Address,
    }
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

/// A collection that was made in an artist's name, and that the artist accepted: it is theirs from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AcceptanceEventData)]
pub struct AcceptanceEvent {
    /// Chain of the contract.
    pub chain_id: ChainId,
    /// Address of the contract.
    pub collection: Address,
    /// Account that made it.
    pub sender: Address,
    /// The artist's account that was named.
    pub account: Address,
}

/// What the operator decided about something of an artist's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModerationEventData)]
pub struct ModerationEvent {
    /// What it is about, such as `moment#8453#0x540c18b7f99b3b599c6feb99964498931c211858#1`.
    #[schema(value_type = String)]
    pub about: Subject,
    /// What was done.
    pub action: Action,
    /// Whether that ended: everything is as its artist left it.
    pub is_undone: bool,
    /// Why.
    pub reason: Reason,
    /// When it ends by itself, in Unix seconds; null if it doesn't.
    #[schema(required = true)]
    pub until: Option<u64>,
    /// The account whose it is.
    pub account: Address,
}

impl AllowListView {
    /// A setting of the lists' strategy; `None` of another.
    pub fn of(sale: &MomentSale) -> Option<Self> {
        let (sale_start, sale_end) = (WholeText(sale.start), WholeText(sale.end));
        Some(Self { root: sale.root?, sale_start, sale_end, funds_recipient: sale.funds_recipient })
    }
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

impl From<Royalty> for RoyaltyView {
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

impl Concerns for AcceptanceEvent {
    fn about(&self) -> About {
        About::Collection(self.chain_id, self.collection)
    }

    fn accounts(&self) -> Vec<Address> {
        vec![self.account, self.sender]
    }
}

impl Concerns for TransactionEvent {
    fn about(&self) -> About {
        About::Transaction(self.id)
    }

    fn accounts(&self) -> Vec<Address> {
        vec![self.account]
    }
}

impl Concerns for ModerationEvent {
    fn about(&self) -> About {
        match self.about {
            Subject::Moment(place) => About::Moment(place),
            Subject::Collection(chain, collection) => About::Collection(chain, collection),
            Subject::Artist(_) | Subject::File(_) | Subject::Comment(..) => About::Artist(self.account),
        }
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
