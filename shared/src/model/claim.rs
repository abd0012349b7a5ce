//! Claim links: whoever has one gets a token of a moment, at its artist's expense.

use std::{fmt, str::FromStr};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    invalid::Invalid,
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of a claim link, by which its artist lists and deletes it; sorts by time of creation (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClaimId(Uuid);

text_schema!(ClaimId, "Id of a claim link.", "019a2b3c-4d5e-7f60-8172-839405a6b7c8", format = format("uuid"),);

impl ClaimId {
    /// A new id, which sorts after all earlier ones.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

uuid_as_text!(ClaimId);

const BYTES: usize = 16;
const PATTERN: &str = "^[A-Za-z0-9_-]{21}[AQgw]$";

/// The secret of a claim link: 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct ClaimToken([u8; BYTES]);

text_schema!(ClaimToken, "The last part of a claim link.", "n4dMF6szORUwX3KWL9LwNQ", pattern = PATTERN,);

impl ClaimToken {
    /// A new token, from the operating system's randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The text, only for the link.
    pub fn reveal(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0)
    }

    /// SHA-256 in hexadecimal digits, as it is stored. A token is random, so a slow hash would protect nothing more.
    pub fn hash(&self) -> String {
        alloy::hex::encode(Sha256::digest(self.0))
    }
}

impl FromStr for ClaimToken {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(Invalid("must be the last part of a claim link: open the link as it is"))
    }
}

/// It is a secret and stays out of logs.
impl fmt::Debug for ClaimToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClaimToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_have_one_spelling_and_are_never_printed() {
        let [one, other] = std::array::from_fn(|_| ClaimToken::random().unwrap());
        assert_ne!(one, other);
        let text = one.reveal();
        assert_eq!((text.len(), text.parse().as_ref()), (22, Ok(&one)));
        assert!(!format!("{one:?}").contains(&text));
        // The last character has four bits that mean nothing.
        for wrong in ["", &text[..21], &format!("{text}A"), &format!("{}B", &text[..21]), &"!".repeat(22)] {
            assert!(wrong.parse::<ClaimToken>().is_err(), "{wrong:?} was accepted");
        }
    }
}
