use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

use super::{
    invalid::Invalid,
    schema::text_schema,
    text::{display_as_field, serde_as_text},
};

/// Hexadecimal digits of a SHA-256.
pub(super) const HASH_PATTERN: &str = "^[0-9a-f]{64}$";

/// Random bytes of a device token.
const BYTES: usize = 32;

/// A secret by which a device is recognized that its owner signed in on: 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct DeviceToken(String);

text_schema!(
    DeviceToken,
    "The secret of a device on which the artist signed in before. Keep it as you keep a password.",
    "3f1c0a5e9b7d24866e0d1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f",
    pattern = HASH_PATTERN,
);

/// Id of a device, for listing and forgetting it: the hash of its token, from which nobody can tell the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceId(String);

text_schema!(
    DeviceId,
    "Id of a device, for forgetting it.",
    "9b74c9897bac770ffc029102a200c5de1f2a3b4c5d6e7f8091a2b3c4d5e6f701",
    pattern = HASH_PATTERN,
);

impl DeviceToken {
    /// A new token, from the operating system's randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(alloy::hex::encode(bytes)))
    }

    /// The digits, only for the answer to the device.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The device's id.
    pub fn id(&self) -> DeviceId {
        DeviceId(alloy::hex::encode(Sha256::digest(&self.0)))
    }
}

impl FromStr for DeviceToken {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        hexadecimal(text).map(Self).ok_or(Invalid("must be a device token, as a sign-in answered it"))
    }
}

/// It is a secret and stays out of logs.
impl fmt::Debug for DeviceToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DeviceToken(…)")
    }
}

impl FromStr for DeviceId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        hexadecimal(text).map(Self).ok_or(Invalid("must be the id of a device"))
    }
}

display_as_field!(DeviceId);
serde_as_text!(DeviceId);

/// The digits of a SHA-256.
pub(super) fn hexadecimal(text: &str) -> Option<String> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == 2 * BYTES && text.bytes().all(is_digit)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_neither_debug_nor_id_reveals_them() {
        let [one, other] = std::array::from_fn(|_| DeviceToken::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.reveal().parse().as_ref(), Ok(&one));
        assert!(!format!("{one:?}").contains(one.reveal()));
        assert!(!one.id().to_string().contains(one.reveal()));
        for text in ["", "ab", &"A".repeat(64), &"a".repeat(63), &"g".repeat(64)] {
            assert!(text.parse::<DeviceToken>().is_err(), "{text:?} was accepted");
        }
    }
}
