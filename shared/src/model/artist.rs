use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Address, Invalid};

/// Who signed in: the id that everything an artist has hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtistId(Uuid);

impl ArtistId {
    /// A new id from the operating system's randomness.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id as a number, from which the artist's wallet and lane follow.
    pub fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

impl FromStr for ArtistId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self).map_err(|_| Invalid("must be a UUID"))
    }
}

impl fmt::Display for ArtistId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// How the service knows that a wallet is an artist's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WalletType {
    /// The smart account that the service keeps for the artist.
    Embedded,
    /// An own key, proved by its signature.
    External,
    /// An own contract wallet, proved by ERC-1271.
    Smart,
}

/// A wallet of an artist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wallet {
    /// Its account.
    pub address: Address,
    /// How it is known.
    pub r#type: WalletType,
}
