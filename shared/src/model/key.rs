use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    invalid::Invalid,
    schema::{LINE, format, text_schema, whole_schema},
    text::{display_as_field, parse_digits, serde_as_text, uuid_as_text},
};

/// Id of an API key, by which its owner lists and revokes it; sorts by time of creation (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

uuid_as_text!(KeyId);

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
        label(text).map(Self)
    }
}

/// What people call things of theirs, without spaces around it.
pub(super) fn label(text: &str) -> Result<String, Invalid> {
    let name = text.trim();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Invalid("must be 1 to 100 characters long, without control characters"));
    }
    Ok(name.to_owned())
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

/// What an API key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Create and change moments, collections and sales; airdrop, comment, migrate.
    Publish,
    /// Collect, within the key's daily limit.
    Collect,
    /// Grant and revoke permissions.
    Admin,
}

impl Scope {
    /// Scopes of a key that was made without naming any.
    pub const DEFAULT: [Self; 2] = [Self::Publish, Self::Collect];

    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Publish, Self::Collect, Self::Admin];

    /// The scope in lower case.
    pub fn word(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Collect => "collect",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Scope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let scopes = [Self::Publish, Self::Collect, Self::Admin];
        scopes.into_iter().find(|scope| scope.word() == text).ok_or(Invalid("must be publish, collect or admin"))
    }
}

/// Days until a key expires: 1 to 365.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDays(u64);

impl KeyDays {
    /// The days in seconds.
    pub fn seconds(self) -> u64 {
        self.0 * 24 * 60 * 60
    }
}

impl FromStr for KeyDays {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(days @ 1..=365) => Ok(Self(days)),
            _ => Err(Invalid("must be a whole number from 1 to 365")),
        }
    }
}

whole_schema!(KeyDays, "Days until a key expires.", 90, 1, 365_usize);

/// Most that a key may spend in a day, in a currency's smallest unit: 0 to 10^30.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DailyLimit(pub u128);

impl FromStr for DailyLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        const MOST: u128 = 10_u128.pow(30);
        match parse_digits(text) {
            Some(amount) if amount <= MOST => Ok(Self(amount)),
            _ => Err(Invalid("must be an amount in the smallest unit: digits of a whole number up to 10^30")),
        }
    }
}

display_as_field!(DailyLimit);

serde_as_text!(DailyLimit);

text_schema!(
    DailyLimit,
    "Most that a key may spend in a day (UTC), in the currency's smallest unit.",
    "10000000000000000",
    pattern = "^0*([0-9]{1,30}|10{30})$",
);

/// Most that a key may spend in a day, by currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DailySpend {
    /// In wei.
    pub eth: DailyLimit,
    /// In millionths of a USDC.
    pub usdc: DailyLimit,
}

/// 0.01 ETH and 25 USDC.
impl Default for DailySpend {
    fn default() -> Self {
        Self { eth: DailyLimit(10_u128.pow(16)), usdc: DailyLimit(25_000_000) }
    }
}
