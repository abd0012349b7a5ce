//! Changes of artists that the index follows. They carry no values: consumers reread the artist.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    address::Address,
    artist::ArtistId,
    moderation::Subject,
    moment::{ChainId, TokenId},
};

/// What changed about an artist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArtistChange {
    /// The username, and possibly other profile fields.
    Renamed,
    /// Profile fields other than the username.
    Described,
    /// A wallet was connected.
    WalletConnected {
        /// The connected wallet.
        wallet: Address,
    },
    /// A wallet was disconnected.
    WalletRemoved {
        /// The disconnected wallet.
        wallet: Address,
    },
    /// A moment was hidden, or is shown again.
    MomentHidden {
        /// Chain of the moment.
        chain: ChainId,
        /// Its collection.
        collection: Address,
        /// Its token.
        token: TokenId,
    },
    /// An artist accepted what an account makes in their name, or makes them an admin of.
    SenderAccepted,
    /// An artist accepted a collection that another account made in their name.
    CollectionAccepted {
        /// Chain of the collection.
        chain: ChainId,
        /// The collection.
        collection: Address,
    },
    /// The operator decided about something, or undid a decision.
    Decided {
        /// What it is.
        subject: Subject,
    },
}

/// A pending message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtistChanged {
    /// UUID v7 of the message; sorts by time.
    #[serde(rename = "sk")]
    pub id: Uuid,
    /// The artist.
    pub artist_id: ArtistId,
    /// What changed.
    #[serde(flatten)]
    pub change: ArtistChange,
}

impl ArtistChanged {
    /// The first id of what the operator decided: the highest bit of a UUID v7. Such messages come last in the outbox, so
    /// that who reads the newest ones sees them, and who has no room for all finds them without the others.
    pub const FIRST_DECISION: Uuid = Uuid::from_u128(1 << 127);

    /// Whether it follows from a decision of the operator, in the form of the version before, too.
    pub fn is_decision(&self) -> bool {
        self.id >= Self::FIRST_DECISION || matches!(self.change, ArtistChange::Decided { .. })
    }
}
