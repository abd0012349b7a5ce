use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    device::{HASH_PATTERN, hexadecimal},
    invalid::Invalid,
    key::label,
    schema::{LINE, format, text_schema},
    text::{display_as_field, serde_as_text, uuid_as_text},
};

/// Id of a passkey, for removing it: the hash of its credential's id, which may be longer than a key of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyId(String);

text_schema!(
    PasskeyId,
    "Id of a passkey.",
    "5d41402abc4b2a76b9719d911017c592ae1f3a4b5c6d7e8f90a1b2c3d4e5f607",
    pattern = HASH_PATTERN,
);

impl PasskeyId {
    /// Id of the passkey whose authenticator calls it `credential`.
    pub fn of(credential: &[u8]) -> Self {
        Self(alloy::hex::encode(Sha256::digest(credential)))
    }
}

impl FromStr for PasskeyId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        hexadecimal(text).map(Self).ok_or(Invalid("must be the id of a passkey"))
    }
}

display_as_field!(PasskeyId);
serde_as_text!(PasskeyId);

/// Id of a ceremony, in which a passkey is added or used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CeremonyId(Uuid);

text_schema!(
    CeremonyId,
    "Id of what a passkey is to answer.",
    "3f0c9a6e-1d2b-4c8f-9e57-7a1b2c3d4e5f",
    format = format("uuid"),
);

impl CeremonyId {
    /// A new random id.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

uuid_as_text!(CeremonyId);

/// An artist's name for a passkey: 1 to 100 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyName(String);

text_schema!(
    PasskeyName,
    "An artist's name for a passkey: without control characters; spaces around it are removed.",
    "my phone",
    min_length = 1_usize,
    max_length = 100_usize,
    pattern = LINE,
);

impl FromStr for PasskeyName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        label(text).map(Self)
    }
}

impl Default for PasskeyName {
    fn default() -> Self {
        Self("Passkey".to_owned())
    }
}

display_as_field!(PasskeyName);
serde_as_text!(PasskeyName);
