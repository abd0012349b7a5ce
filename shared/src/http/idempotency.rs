use std::str::FromStr;

use crate::model::Invalid;

/// A client's name for a request, so that a retry isn't carried out twice. Scoped to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key as sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_visible && (1..=255).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid("must be given once, as 1 to 255 visible characters"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_1_to_255_visible_characters() {
        for text in ["a", "018f4d2e-7c1a", "!~", &"k".repeat(255)] {
            assert_eq!(text.parse::<IdempotencyKey>().unwrap().as_str(), text);
        }
        for text in ["", " ", "a b", "a\t", "é", "a\u{7f}", &"k".repeat(256)] {
            assert!(text.parse::<IdempotencyKey>().is_err(), "{text:?} was accepted");
        }
    }
}
