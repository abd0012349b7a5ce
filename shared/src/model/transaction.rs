use std::fmt;

use alloy::primitives::{self, Bytes, U256};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    address::Address,
    moment::TokenId,
    moment_update::MomentUpdate,
    moving::MovingMoment,
    publication::NewMoment,
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of a transaction, given when it is queued: UUID v7, so that later ones sort after earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransactionId(Uuid);

text_schema!(
    TransactionId,
    "Id of a transaction, known before it has a hash.",
    "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c",
    format = format("uuid"),
);

impl TransactionId {
    /// A new id, of the current time.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for TransactionId {
    fn default() -> Self {
        Self::new()
    }
}

uuid_as_text!(TransactionId);

/// Progress of a transaction: always a fact, never an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransactionStatus {
    /// Waits to be sent.
    Queued,
    /// Signed and sent; a block may include it at any time.
    Sent,
    /// In a block, and done.
    Mined,
    /// Sent, and not done: the contracts refused it in a block, or no block had it.
    Reverted,
    /// Given up before it was sent: nothing was done, and nothing will be.
    Failed,
    /// Taken back by its artist before it was sent: nothing was done, and nothing will be.
    Cancelled,
}

impl TransactionStatus {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Queued, Self::Sent, Self::Mined, Self::Reverted, Self::Failed, Self::Cancelled];

    /// Whether nothing more happens, but for a reorganisation of the chain.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Mined | Self::Reverted | Self::Failed | Self::Cancelled)
    }

    /// Whether nothing was done.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Reverted | Self::Failed | Self::Cancelled)
    }

    /// Whether `next` can follow. A reorganisation can turn `mined` and `reverted` into each other.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => true,
            // A block may still have what was sent; but a batch may have claimed it and never been signed.
            Self::Sent => next != Self::Cancelled,
            Self::Mined | Self::Reverted => matches!(next, Self::Mined | Self::Reverted),
            Self::Failed | Self::Cancelled => false,
        }
    }

    /// The status in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Mined => "mined",
            Self::Reverted => "reverted",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a transaction may do. A queue of its own has those of each kind, so that a function that somebody has taken over
/// queues nothing but what it is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WriteKind {
    /// Publishes and changes what the artist has.
    #[default]
    Plain,
    /// Sends money of the artist's.
    Payment,
    /// Gives others permissions, or takes them away.
    Grant,
}

impl WriteKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Payment, Self::Grant];
}

impl fmt::Display for WriteKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plain => "PLAIN",
            Self::Payment => "PAYMENT",
            Self::Grant => "GRANT",
        })
    }
}

/// A call from an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Address that is called.
    pub target: primitives::Address,
    /// Wei sent with the call, from the account's own balance.
    pub value: U256,
    /// Function selector and encoded arguments.
    pub data: Bytes,
}

/// The calls of a transaction: all or none of them are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "plan", rename_all = "snake_case")]
pub enum Plan {
    /// Known in full.
    Calls {
        /// In their order.
        calls: Vec<Call>,
    },
    /// Depends on the collection's next token, which is known only when the transaction is signed.
    Tokens(NewTokens),
    /// Depends on what the moment is when the transaction is signed.
    Moment(MomentUpdate),
    /// Depends on what the moment is when the transaction is signed, and on the next token of its new collection.
    Moving(MovingMoment),
}

impl From<Vec<Call>> for Plan {
    fn from(calls: Vec<Call>) -> Self {
        Self::Calls { calls }
    }
}

impl From<MomentUpdate> for Plan {
    fn from(update: MomentUpdate) -> Self {
        Self::Moment(update)
    }
}

impl From<MovingMoment> for Plan {
    fn from(moving: MovingMoment) -> Self {
        Self::Moving(moving)
    }
}

impl Plan {
    /// The on-chain state that the plan reads or changes, if others must not do so at the same time.
    pub fn concurrency_key(&self) -> Option<ConcurrencyKey> {
        match self {
            Self::Calls { .. } => None,
            Self::Tokens(tokens) => Some(ConcurrencyKey::NextToken(tokens.collection)),
            Self::Moment(update) => Some(ConcurrencyKey::Moment(update.collection, update.token)),
            // Whether the copy's id is still the next one the contract checks itself.
            Self::Moving(moving) => Some(ConcurrencyKey::Moment(moving.collection, moving.token)),
        }
    }
}

/// On-chain state that at most one batch under way may read or change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConcurrencyKey {
    /// Id of a collection's next token.
    NextToken(Address),
    /// A moment's sale, metadata and admins.
    Moment(Address, TokenId),
}

impl ConcurrencyKey {
    /// Whether transactions with this key are done in the order in which they were queued, whoever queued them.
    pub fn keeps_order(self) -> bool {
        matches!(self, Self::Moment(..))
    }
}

/// Moments to be created in an existing collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTokens {
    /// The collection.
    pub collection: Address,
    /// Its name, which names markets of timed sales.
    pub collection_name: String,
    /// Gets admin permission, the tokens minted at once and, by default, the proceeds.
    pub account: Address,
    /// The artist's embedded wallet.
    pub operator: Address,
    /// Split that receives proceeds and royalties.
    pub split: Option<Address>,
    /// Calls to make before.
    pub before: Vec<Call>,
    /// The moments, in their order.
    pub moments: Vec<NewMoment>,
}

/// What a transaction creates, and so what its answer names beside the hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Creation {
    /// Nothing that the answer names.
    #[default]
    Nothing,
    /// A collection.
    Collection,
    /// One moment.
    Moment,
    /// Several moments.
    Moments,
    /// A split.
    Split,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_status_changes_only_with_the_chain() {
        for status in TransactionStatus::ALL.into_iter().filter(|status| status.is_final()) {
            assert!(!status.may_become(TransactionStatus::Queued));
            assert!(!status.may_become(TransactionStatus::Sent));
            assert!(!status.may_become(TransactionStatus::Failed));
            assert!(!status.may_become(TransactionStatus::Cancelled));
        }
    }

    #[test]
    fn failed_and_cancelled_is_only_what_was_never_sent() {
        let claimed = [TransactionStatus::Queued, TransactionStatus::Sent];
        for (unsent, expected) in
            [(TransactionStatus::Failed, &claimed[..]), (TransactionStatus::Cancelled, &claimed[..1])]
        {
            let before: Vec<_> =
                TransactionStatus::ALL.into_iter().filter(|status| status.may_become(unsent)).collect();
            assert_eq!(before, expected);
            assert!(TransactionStatus::ALL.into_iter().all(|next| !unsent.may_become(next)));
        }
    }
}
