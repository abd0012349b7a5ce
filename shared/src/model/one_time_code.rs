use std::{fmt, str::FromStr, time::Duration};

use sha2::{Digest, Sha256};

use super::{invalid::Invalid, schema::text_schema};

/// A six-digit sign-in code, sent by mail.
#[derive(Clone, PartialEq, Eq)]
pub struct OneTimeCode(String);

text_schema!(OneTimeCode, "The six-digit code from the mail.", "123456", pattern = "^[0-9]{6}$");

impl OneTimeCode {
    /// Time for which a code is valid.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// Most tries of one code, right or wrong.
    pub const MAX_TRIES: u32 = 5;

    /// A uniformly random code, from the operating system's randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        const CODES: u32 = 1_000_000;
        // Numbers past the last whole million would bias the remainder.
        const FAIR: u32 = u32::MAX - u32::MAX % CODES;
        loop {
            let number = getrandom::u32()?;
            if number < FAIR {
                return Ok(Self(format!("{:06}", number % CODES)));
            }
        }
    }

    /// The digits, only for the mail and the message that is authenticated.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for OneTimeCode {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid("must be 6 digits"))
        }
    }
}

impl fmt::Debug for OneTimeCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OneTimeCode(…)")
    }
}

/// A client's secret that binds a code to who asked for it: 16 to 128 visible characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(String);

text_schema!(
    Nonce,
    "A random text that the client makes up and keeps: only with it is the code of any use.",
    "018f4d2e-7c1a-4b7e-9a53-0c7d0f5f1e21",
    min_length = 16_usize,
    max_length = 128_usize,
    pattern = "^[!-~]+$",
);

impl Nonce {
    /// SHA-256 in hexadecimal digits, as it is stored.
    pub fn hash(&self) -> String {
        alloy::hex::encode(Sha256::digest(&self.0))
    }
}

impl FromStr for Nonce {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if (16..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.to_owned()));
        }
        Err(Invalid("must be 16 to 128 visible ASCII characters"))
    }
}

/// It is a secret and stays out of logs.
impl fmt::Debug for Nonce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Nonce(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_six_digits_with_every_first_digit() {
        let codes: Vec<_> = (0..1_000).map(|_| OneTimeCode::random().unwrap()).collect();
        assert!(codes.iter().all(|code| code.reveal().parse::<OneTimeCode>().as_ref() == Ok(code)));
        // One given first digit is missing from 1,000 fair draws with a probability of 0.9^1000, under 10^-45.
        for digit in '0'..='9' {
            assert!(codes.iter().any(|code| code.reveal().starts_with(digit)), "no code starts with {digit}");
        }
    }

    #[test]
    fn invalid_codes_are_refused_and_codes_are_never_printed() {
        for text in ["", "12345", "1234567", "12345a", " 12345", "१२३४५६", "-12345"] {
            assert!(text.parse::<OneTimeCode>().is_err(), "{text:?} was accepted");
        }
        assert!(!format!("{:?}", OneTimeCode("123456".to_owned())).contains("123456"));
    }
}
