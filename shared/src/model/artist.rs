use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    address::Address,
    invalid::Invalid,
    profile::Username,
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of an artist; in rankings also of a wallet without an artist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtistId(Uuid);

text_schema!(
    ArtistId,
    "Id of an artist; in rankings also of a wallet without an artist.",
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    format = format("uuid"),
);

impl ArtistId {
    /// Sender of the operator's messages to the index.
    pub const OPERATOR: Self = Self(Uuid::nil());

    /// A new random id.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Id under which a wallet without an artist is ranked: UUID v5 of its address.
    pub fn of_wallet(wallet: Address) -> Self {
        /// Must never change: every such wallet's id follows from it.
        const NAMESPACE: Uuid = Uuid::from_u128(0x9d1b_3f5e_2c47_4a8b_b6d0_71e8_5ac3_9f24);
        Self(Uuid::new_v5(&NAMESPACE, wallet.to_string().as_bytes()))
    }

    /// The id as WebAuthn stores it in a passkey.
    pub fn as_user_handle(self) -> Uuid {
        self.0
    }

    /// The artist whom a passkey names.
    pub fn of_user_handle(handle: Uuid) -> Self {
        Self(handle)
    }

    /// The id as a number, from which the artist's wallet follows.
    pub fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

/// An artist, named by any of their wallets or by their username.
#[derive(Clone, Debug, PartialEq, Eq, ToSchema)]
#[schema(title = "ArtistName")]
#[serde(untagged)]
pub enum ArtistName {
    /// A wallet.
    Account(Address),
    /// A username.
    Username(Username),
}

impl FromStr for ArtistName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // No name begins like an address.
        match text.parse() {
            Ok(account) => Ok(Self::Account(account)),
            Err(Invalid(_)) if text.starts_with("0x") || text.starts_with("0X") => {
                Err(Invalid("must be an address, 0x and 40 hexadecimal digits, or a username"))
            }
            Err(Invalid(_)) => match text.parse() {
                Ok(name) => Ok(Self::Username(name)),
                Err(Invalid(_)) => Err(Invalid(
                    "must be an address or a username, which has 3 to 32 letters, digits, \"_\", \".\" and \"-\"",
                )),
            },
        }
    }
}

impl fmt::Display for ArtistName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => account.fmt(formatter),
            Self::Username(name) => name.fmt(formatter),
        }
    }
}

uuid_as_text!(ArtistId);

/// How a wallet was linked to its artist: `embedded` (the smart account that the service keeps for the artist),
/// `external` (a key, proved by its signature) or `smart` (a contract wallet, proved by ERC-1271).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WalletType {
    /// The smart account that the service keeps for the artist.
    Embedded,
    /// A key of the artist's own, proved by its signature.
    External,
    /// A contract wallet of the artist's own, proved by ERC-1271.
    Smart,
}

/// A wallet linked to an artist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Wallet {
    /// The wallet's account.
    pub address: Address,
    /// How the wallet was linked.
    pub r#type: WalletType,
}
