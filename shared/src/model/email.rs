use std::{fmt, str::FromStr};

use email_address::{EmailAddress, Options};
use sha2::{Digest, Sha256};

use super::{
    Invalid,
    schema::{format, text_schema},
    serde_as_text,
};

/// A mail address, in lower case: sign-in treats `Ada@Example.com` and `ada@example.com` as one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

/// Longest address that fits an SMTP path (RFC 5321, 4.5.3.1.3, less the angle brackets).
const MAX_BYTES: usize = 254;

impl Email {
    /// The address as a mail server takes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A stand-in for the address where the address itself has no business: its SHA-256, in hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        alloy::hex::encode(Sha256::digest(&self.0))
    }
}

impl FromStr for Email {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_BYTES {
            return Err(Invalid("must be at most 254 characters long"));
        }
        // SES takes ASCII alone in a local part, and a quoted one invites header tricks: neither is worth its risk.
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
        let options = Options::default().with_required_tld().without_domain_literal().without_display_text();
        if !plain || EmailAddress::parse_with_options(text, options).is_err() {
            return Err(Invalid("must be an e-mail address such as name@example.com"));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for Email {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

serde_as_text!(Email);

text_schema!(
    Email,
    "A mail address in ASCII. Letter case makes no difference.",
    "ada@example.com",
    format = format("email"),
    max_length = MAX_BYTES,
);

/// Addresses are personal data and stay out of logs.
impl fmt::Debug for Email {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Email(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_any_letter_case() {
        let email: Email = "Ada.Lovelace+moments@Example.COM".parse().unwrap();
        assert_eq!(email.as_str(), "ada.lovelace+moments@example.com");
        assert_eq!(format!("{email:?}"), "Email(…)");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@{}.com", "a".repeat(60), "b".repeat(190));
        for text in [
            "",
            "ada",
            "ada@",
            "@example.com",
            "ada@example",
            "ada@@example.com",
            "ada@exa mple.com",
            " ada@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada@example.com\n",
            "Ada <ada@example.com>",
            "\"a\\\"b\"@example.com",
            "ada@[127.0.0.1]",
            "ada@example.com,eve@example.com",
            "adá@example.com",
            "a..b@example.com",
            &long,
        ] {
            assert!(text.parse::<Email>().is_err(), "{text:?} was accepted");
        }
    }
}
