use std::{fmt, str::FromStr};

use email_address::{EmailAddress, Options};
use sha2::{Digest, Sha256};

use super::{
    invalid::Invalid,
    schema::{format, text_schema},
    text::serde_as_text,
};

/// An e-mail address in lower case, since sign-in ignores letter case; spaces around it are dropped.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

/// Longest address in an SMTP path (RFC 5321, 4.5.3.1.3, without the angle brackets).
const MAX_BYTES: usize = 254;

impl Email {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the address in hexadecimal digits, for places that must not hold the address itself.
    pub fn fingerprint(&self) -> String {
        alloy::hex::encode(self.digest())
    }

    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// SHA-256 of the mailbox, whatever `+tag` the address has, and whatever else its provider ignores: one person's
    /// inbox counts as one.
    pub fn mailbox(&self) -> String {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((&self.0, ""));
        let provider = PROVIDERS.iter().find(|provider| provider.domains.contains(&domain));
        let (domain, ignored, tag) =
            provider.map_or((domain, NOTHING, '+'), |provider| (provider.domains[0], provider.ignored, provider.tag));
        let name = local.split(['+', tag]).next().filter(|name| !name.is_empty()).unwrap_or(local);
        alloy::hex::encode(Sha256::digest(format!("{}@{domain}", name.replace(ignored, ""))))
    }
}

/// A provider for whom several addresses are one mailbox.
struct Provider {
    /// Names of the same mailboxes.
    domains: &'static [&'static str],
    /// Characters of a name that are ignored.
    ignored: &'static [char],
    /// What a tag begins with, besides `+`.
    tag: char,
}

const NOTHING: &[char] = &[];

/// <https://support.google.com/mail/answer/7436150>, <https://proton.me/support/addresses-and-aliases>,
/// <https://support.apple.com/en-us/102546>, <https://help.yahoo.com/kb/SLN28815.html>
const PROVIDERS: [Provider; 4] = [
    Provider { domains: &["gmail.com", "googlemail.com"], ignored: &['.'], tag: '+' },
    Provider { domains: &["proton.me", "protonmail.com", "pm.me"], ignored: &['.', '-', '_'], tag: '+' },
    Provider { domains: &["icloud.com", "me.com", "mac.com"], ignored: NOTHING, tag: '+' },
    Provider { domains: &["yahoo.com"], ignored: NOTHING, tag: '-' },
];

impl FromStr for Email {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > MAX_BYTES {
            return Err(Invalid("must be at most 254 characters long"));
        }
        let text = text.trim_matches(' ');
        // SES accepts only ASCII in a local part, and a quoted one can smuggle in headers.
        match text.rsplit_once('@') {
            Some((local, _)) if !local.is_ascii() => {
                return Err(Invalid("must have ASCII characters alone before the @: no mail can be sent to others"));
            }
            Some((_, domain)) if !domain.is_ascii() => {
                return Err(Invalid("must have its domain in ASCII: xn--bcher-kva.example for bücher.example"));
            }
            _ => {}
        }
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
    "An e-mail address in ASCII; letter case is ignored.",
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
    fn letter_case_is_ignored_and_addresses_are_never_printed() {
        let email: Email = "Ada.Lovelace+moments@Example.COM".parse().unwrap();
        assert_eq!(email.as_str(), "ada.lovelace+moments@example.com");
        assert_eq!(format!("{email:?}"), "Email(…)");
        assert_eq!(" ada@example.com ".parse::<Email>().unwrap().as_str(), "ada@example.com");
    }

    #[test]
    fn other_letters_are_refused_with_the_way_to_write_them() {
        let words = |text: &str| text.parse::<Email>().unwrap_err().to_string();
        assert!(words("ada@bücher.example").contains("xn--bcher-kva.example"));
        assert!(words("bücher@example.com").contains("before the @"));
        assert!("ada@xn--bcher-kva.example".parse::<Email>().is_ok());
    }

    #[test]
    fn tags_are_of_one_mailbox() {
        let mailbox = |text: &str| text.parse::<Email>().unwrap().mailbox();
        assert_eq!(mailbox("ada@example.com"), mailbox("ADA+1@example.com"));
        assert_eq!(mailbox("ada+a+b@example.com"), mailbox("ada@example.com"));
        assert_ne!(mailbox("ada@example.com"), mailbox("ada@example.org"));
        assert_ne!(mailbox("+a@example.com"), mailbox("+b@example.com"));
    }

    #[test]
    fn addresses_that_a_provider_takes_for_one_are_one_mailbox() {
        let mailbox = |text: &str| text.parse::<Email>().unwrap().mailbox();
        for (one, same) in [
            ("ada.love.lace@gmail.com", "AdaLovelace+x@googlemail.com"),
            ("a.d-a_l@protonmail.com", "adal@pm.me"),
            ("ada@me.com", "ada@icloud.com"),
            ("ada-shop@yahoo.com", "ada@yahoo.com"),
        ] {
            assert_eq!(mailbox(one), mailbox(same), "{one} {same}");
        }
        assert_ne!(mailbox("a.da@example.com"), mailbox("ada@example.com"));
        assert_ne!(mailbox("a-da@gmail.com"), mailbox("a@gmail.com"));
    }

    #[test]
    fn invalid_addresses_are_refused() {
        let long = format!("{}@{}.com", "a".repeat(60), "b".repeat(190));
        for text in [
            "",
            "ada",
            "ada@",
            "@example.com",
            "ada@example",
            "ada@@example.com",
            "ada@exa mple.com",
            "\tada@example.com",
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
