use std::{fmt, str::FromStr, time::Duration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{email::Email, invalid::Invalid, schema::text_schema};

const ADDRESS_BYTES: usize = 32;
const SECRET_BYTES: usize = 16;
const PATTERN: &str = "^[A-Za-z0-9_-]{64}$";

/// The secret of a link in a mail: the hash of the mail's address, and 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct SignInLink {
    bytes: [u8; ADDRESS_BYTES + SECRET_BYTES],
}

text_schema!(
    SignInLink,
    "What stands behind `#link=` in the mail's link.",
    "tzDP2OZ_BkGuSgOFBWbKQBTqpQmnJkGN0yYkD7bTAgqfh0wXqzM5FTBfcpYv0vA1",
    pattern = PATTERN,
);

impl SignInLink {
    /// Time for which a link is valid.
    pub const LIFETIME: Duration = Duration::from_secs(15 * 60);

    /// A new link for an address, from the operating system's randomness.
    pub fn random(email: &Email) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; ADDRESS_BYTES + SECRET_BYTES];
        bytes[..ADDRESS_BYTES].copy_from_slice(&email.digest());
        getrandom::fill(&mut bytes[ADDRESS_BYTES..])?;
        Ok(Self { bytes })
    }

    /// The text, only for the mail.
    pub fn reveal(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.bytes)
    }

    /// [`Email::fingerprint`] of the address that it was mailed to.
    pub fn fingerprint(&self) -> String {
        alloy::hex::encode(&self.bytes[..ADDRESS_BYTES])
    }

    /// SHA-256 of the secret in hexadecimal digits, as it is stored.
    pub fn hash(&self) -> String {
        alloy::hex::encode(Sha256::digest(&self.bytes[ADDRESS_BYTES..]))
    }
}

impl FromStr for SignInLink {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(|bytes| Self { bytes }).ok_or(Invalid("must be what stands behind #link= in the mail's link"))
    }
}

/// It is a secret and stays out of logs.
impl fmt::Debug for SignInLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SignInLink(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_random_name_their_address_and_are_never_printed() {
        let email: Email = "ada@example.com".parse().unwrap();
        let [one, other] = std::array::from_fn(|_| SignInLink::random(&email).unwrap());
        assert_ne!(one, other);
        assert_eq!((one.fingerprint(), one.reveal().len()), (email.fingerprint(), 64));
        assert_eq!(one.reveal().parse().as_ref(), Ok(&one));
        assert!(!format!("{one:?}").contains(&one.reveal()));
        for text in ["", "abc", &"!".repeat(64), &"a".repeat(60), &"a".repeat(68)] {
            assert!(text.parse::<SignInLink>().is_err(), "{text:?} was accepted");
        }
    }
}
