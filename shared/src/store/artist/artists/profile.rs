use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use super::artist::Artist;
use crate::model::{
    Address, AvatarUri, Bio, Cid, Event, Picture, SocialUsername, Suspension, Username, Wallet, WalletType, WebUrl,
};

/// An artist's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Id and embedded wallet.
    #[serde(flatten)]
    pub artist: Artist,
    /// Creation time, in Unix seconds.
    pub created_at: u64,
    /// Username; empty until one is chosen.
    pub username: String,
    /// Biography; may be empty.
    pub bio: String,
    /// Instagram username; may be empty.
    pub instagram_username: String,
    /// Twitter username; may be empty.
    pub twitter_username: String,
    /// Telegram username; may be empty.
    pub telegram_username: String,
    /// File of the artist's picture.
    #[serde(default)]
    pub avatar: Option<Cid>,
    /// Forms of a picture, of this or an earlier one. Written apart from the rest ([`super::Artists::set_avatar_forms`]).
    #[serde(default, skip_serializing)]
    pub(super) avatar_forms: Option<Picture>,
    /// Addresses of the artist's pages elsewhere.
    #[serde(default)]
    pub links: Vec<WebUrl>,
    /// Wallets: the embedded one first, then in order of connection.
    pub wallets: Vec<Wallet>,
    /// Whether the operator hid the artist: nobody else sees the name or the profile.
    #[serde(default)]
    pub is_withheld: bool,
    /// Why the artist publishes nothing, by the operator's decision; it may have ended.
    #[serde(default)]
    pub suspension: Option<Suspension>,
    /// Time of the last change, in Unix seconds.
    pub updated_at: u64,
    /// Connected wallets that are to be disconnected.
    #[serde(default)]
    pub(super) leaving: Vec<LeavingWallet>,
    pub(super) held_names: Vec<HeldName>,
    /// Whether the row of the username's shape is the artist's, too.
    #[serde(default)]
    pub(super) has_shape: bool,
    pub(super) version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeavingWallet {
    pub(super) address: Address,
    /// From when on it can be disconnected without a proof, in Unix seconds.
    pub(super) at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldName {
    pub(super) folded: String,
    pub(super) until: u64,
}

/// Profile fields to change; a field that is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChange {
    /// New username.
    pub username: Option<Username>,
    /// New biography.
    pub bio: Option<Bio>,
    /// New Instagram username.
    pub instagram_username: Option<SocialUsername>,
    /// New Twitter username.
    pub twitter_username: Option<SocialUsername>,
    /// New Telegram username.
    pub telegram_username: Option<SocialUsername>,
    /// New picture.
    pub avatar: Option<AvatarUri>,
    /// New links, in place of all.
    pub links: Option<Vec<WebUrl>>,
}

/// Reason to refuse a profile change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileRefusal {
    /// The artist does not exist.
    Gone,
    /// The operator suspends the artist.
    Suspended(Suspension),
    /// The name belongs to, or is reserved for, another artist.
    NameTaken,
    /// [`super::usernames::HELD_NAMES`] names are already reserved for the artist.
    TooManyNames {
        /// When the first of them is released, in Unix seconds.
        until: u64,
    },
}

/// Writes with the refusal that a failed condition stands for; `None` means a concurrent change, which is retried.
pub(super) type Writes<R> = Vec<(TransactWriteItem, Option<R>)>;

pub(super) enum Revision<R> {
    Write(Writes<R>),
    /// The same, with events besides the profile's own.
    Tell(Writes<R>, Vec<Event>),
    Nothing,
    Refused(R),
}

impl Profile {
    /// The username that others see.
    pub(super) fn shown_name(&self) -> &str {
        if self.is_withheld { "" } else { &self.username }
    }

    /// Addresses that are the artist's on every chain: a contract wallet proved itself on one alone, elsewhere its address
    /// may be another's.
    pub fn wallets_anywhere(&self) -> impl Iterator<Item = Address> {
        self.wallets.iter().filter(|wallet| wallet.r#type != WalletType::Smart).map(|wallet| wallet.address)
    }

    /// Wallets that the artist connected, which sign in: all but the account that the service keeps.
    pub(in crate::store) fn connected_wallets(&self) -> impl Iterator<Item = Wallet> {
        self.wallets.iter().copied().filter(|wallet| wallet.r#type != WalletType::Embedded)
    }

    /// Whether the artist connected the wallet. The wallet's own row isn't believed alone where that gives power.
    pub(super) fn has_connected(&self, wallet: Wallet) -> bool {
        self.connected_wallets().any(|connected| connected == wallet)
    }

    /// From when on a wallet that is to be disconnected can be without a proof, in Unix seconds; `None` if it isn't to be.
    pub fn leaves_at(&self, wallet: Address) -> Option<u64> {
        self.leaving.iter().find(|leaving| leaving.address == wallet).map(|leaving| leaving.at)
    }

    /// Forms of the artist's picture; `None` until they are made, and without a picture that can be shown.
    pub fn avatar_forms(&self) -> Option<&Picture> {
        self.avatar_forms.as_ref().filter(|forms| self.avatar.is_some() && Cid::in_uri(&forms.uri) == self.avatar)
    }

    /// Returns when each reserved name is released, in Unix seconds.
    pub fn held_until(&self, now: u64) -> impl Iterator<Item = u64> {
        self.held_names.iter().map(|name| name.until).filter(move |&until| until > now)
    }
}
