use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Invalid,
    schema::{LINE, format, text_schema},
    serde_as_text,
};

/// The id of an API key, by which its owner lists and revokes it. Says nothing about the key itself. Later ids sort
/// after earlier ones (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(Uuid);

text_schema!(
    KeyId,
    "Id of an API key; says nothing about the key itself.",
    "019a2b3c-4d5e-7f60-8172-839405a6b7c8",
    format = format("uuid"),
);

impl KeyId {
    /// A new id, sorting after all that were made before it.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

impl FromStr for KeyId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self).map_err(|_| Invalid("must be a UUID"))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What an artist calls a key: 1 to 100 characters, kept as given without the spaces around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName(String);

impl Default for KeyName {
    fn default() -> Self {
        Self("API key".to_owned())
    }
}

impl FromStr for KeyName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = text.trim();
        if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
            return Err(Invalid("must be 1 to 100 characters long, without control characters"));
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

serde_as_text!(KeyName);

text_schema!(
    KeyName,
    "What an artist calls a key: without control characters, kept without the spaces around it.",
    "my site",
    min_length = 1_usize,
    max_length = 100_usize,
    pattern = LINE,
);
