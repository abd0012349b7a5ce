use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of an activity: UUID v7, so that later ones sort after earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActivityId(Uuid);

text_schema!(ActivityId, "Id of an activity.", "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d", format = format("uuid"),);

impl ActivityId {
    /// A new id, which sorts after all earlier ones.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

uuid_as_text!(ActivityId);

/// What happened to an artist's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// Signed in.
    SignedIn,
    /// One session was signed out.
    SignedOut,
    /// All sessions were signed out.
    SignedOutEverywhere,
    /// A device that was signed in on before was forgotten.
    DeviceForgotten,
    /// An API key was made.
    KeyCreated,
    /// An API key was made that may give away works, or spend more in a day than an old token.
    PowerfulKeyCreated,
    /// An API key was revoked.
    KeyRevoked,
    /// A wallet was connected.
    WalletConnected,
    /// A wallet was disconnected.
    WalletDisconnected,
    /// A payout address was added.
    PayoutAdded,
    /// A payout address was removed.
    PayoutRemoved,
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was removed, or will be.
    PasskeyRemoved,
    /// A passkey that was to be removed stays.
    PasskeyKept,
    /// The mail address is to change.
    EmailChanging,
    /// A change of the mail address was stopped.
    EmailKept,
    /// Money was sent out of the account.
    Withdrawn,
    /// More was collected at once than an old token may spend in a day.
    Collected,
    /// Something was collected for no more than that.
    Purchased,
    /// A collection or moments were published.
    Published,
    /// A moment's or a collection's metadata was changed.
    Edited,
    /// A moment's sale was changed, and perhaps whom it pays.
    SaleChanged,
    /// Tokens of a moment were given away.
    Airdropped,
    /// A link was made that gives tokens of a moment away.
    ClaimLinkCreated,
    /// A moment was moved to another collection.
    MomentMoved,
    /// A moment was commented on.
    Commented,
    /// A moment was hidden from timelines.
    MomentHidden,
    /// A hidden moment was shown again.
    MomentShown,
    /// An account was made an admin of a moment or collection.
    AdminGranted,
    /// An account is no admin of a moment or collection any more.
    AdminRevoked,
    /// The artist's own wallet was made an admin of their collections.
    Migrated,
    /// The account is to be deleted.
    DeletionRequested,
    /// The deletion was taken back.
    DeletionCancelled,
    /// A webhook was made.
    WebhookCreated,
    /// A webhook was removed.
    WebhookDeleted,
    /// A webhook was changed.
    WebhookChanged,
    /// The secret of a webhook was replaced.
    WebhookRotated,
}

impl ActivityKind {
    /// What a mail says of it; `None` for what is mailed to nobody.
    pub fn notice(self) -> Option<&'static str> {
        match self {
            Self::KeyCreated => Some("An API key was made for your account"),
            Self::PowerfulKeyCreated => {
                Some("An API key was made that may give away works of yours, or spend more than others")
            }
            Self::WalletConnected => Some("A wallet was connected to your account"),
            Self::WalletDisconnected => Some("A wallet was disconnected from your account"),
            Self::PayoutAdded => Some("An address was added that your money can be withdrawn to"),
            Self::PasskeyAdded => Some("A passkey was added to your account"),
            Self::PasskeyRemoved => {
                Some("A passkey is removed from your account: at once, or in 7 days unless you keep it")
            }
            Self::PasskeyKept => Some("A passkey of your account that was to be removed stays"),
            Self::EmailChanging => {
                Some("Another mail address takes the place of your account's in 7 days, unless you stop it")
            }
            Self::EmailKept => Some("Your account's mail address stays as it is"),
            Self::Withdrawn => Some("Money was withdrawn from your account"),
            Self::Collected => Some("A large amount of your money paid for a moment"),
            Self::AdminGranted => Some("An account may now change and give away works of yours"),
            Self::Migrated => Some("A wallet of yours was made an admin of your works"),
            Self::SignedOutEverywhere => Some("You were signed out everywhere"),
            Self::DeletionRequested => Some("Your account will be deleted in 7 days, unless you sign in before"),
            Self::DeletionCancelled => Some("Your account will not be deleted, since you signed in"),
            Self::WebhookCreated => Some("A webhook was made that hears of your moments"),
            Self::WebhookChanged => Some("A webhook that hears of your moments was changed"),
            Self::SignedIn
            | Self::SignedOut
            | Self::DeviceForgotten
            | Self::KeyRevoked
            | Self::AdminRevoked
            | Self::Purchased
            | Self::Published
            | Self::Edited
            | Self::SaleChanged
            | Self::Airdropped
            | Self::ClaimLinkCreated
            | Self::MomentMoved
            | Self::Commented
            | Self::MomentHidden
            | Self::MomentShown
            | Self::PayoutRemoved
            | Self::WebhookDeleted
            | Self::WebhookRotated => None,
        }
    }
}
