use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    invalid::Invalid,
    schema::{LINE, format, text_schema},
    text::serde_as_text,
};

/// Id of an API key, by which its owner lists and revokes it; sorts by time of creation (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(Uuid);

text_schema!(
    KeyId,
    "Id of an API key, for listing and revoking it.",
    "019a2b3c-4d5e-7f60-8172-839405a6b7c8",
    format = format("uuid"),
);

impl KeyId {
    /// A new id, which sorts after all earlier ones.
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

/// An artist's name for an API key: 1 to 100 characters, trimmed. By default `API key`.
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
    "An artist's name for an API key: without control characters; spaces around it are removed.",
    "my site",
    min_length = 1_usize,
    max_length = 100_usize,
    pattern = LINE,
);
