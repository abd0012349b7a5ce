use std::{fmt, str::FromStr};

use alloy::primitives::B256;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    address::{Address, parse_fixed_hex},
    event_id::EventId,
    invalid::Invalid,
    schema::text_schema,
    text::serde_as_text,
};

/// A comment's id in the comments protocol: 32 bytes, as `0x` and 64 lower-case digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommentId(B256);

/// A comment's nonce in the comments protocol: 32 bytes, which an onchain reply names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentNonce(B256);

macro_rules! thirty_two_bytes {
    ($type:ident) => {
        impl FromStr for $type {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                parse_fixed_hex(text)
                    .map(|bytes: [u8; 32]| Self(bytes.into()))
                    .ok_or(Invalid("must be 32 bytes: 0x and 64 hexadecimal digits"))
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{:#x}", self.0)
            }
        }

        impl From<$type> for B256 {
            fn from(bytes: $type) -> Self {
                bytes.0
            }
        }

        impl From<B256> for $type {
            fn from(bytes: B256) -> Self {
                Self(bytes)
            }
        }

        serde_as_text!($type);
    };
}
thirty_two_bytes!(CommentId);
thirty_two_bytes!(CommentNonce);

text_schema!(
    CommentId,
    "A comment's id in the comments protocol: 32 bytes.",
    "0x9f2d6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d3",
    pattern = "^0x[0-9a-fA-F]{64}$",
);
text_schema!(
    CommentNonce,
    "A comment's nonce in the comments protocol: 32 bytes, which an onchain reply names.",
    "0x0000000000000000000000000000000000000000000000000000000000000001",
    pattern = "^0x[0-9a-fA-F]{64}$",
);

/// The text of a new comment: 1 to 1000 characters, not only spaces, no control character but the line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentText(String);

impl CommentText {
    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CommentText {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_control = |character: char| character.is_control() && character != '\n';
        if text.trim().is_empty() && !text.is_empty() {
            return Err(Invalid("must have more than spaces"));
        }
        if text.is_empty() || text.chars().count() > 1_000 || text.contains(is_control) {
            return Err(Invalid("must be 1 to 1000 characters long, without control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

text_schema!(
    CommentText,
    "The text of a comment: not only spaces, no control character but the line feed.",
    "The light on the water!",
    min_length = 1_usize,
    max_length = 1_000_usize,
    pattern = r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x09\x0b-\x1f\x7f-\x9f]*$",
);

/// A comment on a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Id of the comment at this service.
    pub id: EventId,
    /// Account that commented; for a mint-time comment, the account that got the token.
    pub sender: Address,
    /// Username of the sender's artist profile; empty without one.
    pub username: String,
    /// Text, cut to 2000 characters.
    #[schema(max_length = 2000)]
    pub comment: String,
    /// Unix time in milliseconds.
    pub timestamp: u64,
    /// Id in the comments protocol; null for a mint-time comment, which can't be replied to onchain.
    #[schema(required = true)]
    pub comment_id: Option<CommentId>,
    /// Id of the parent comment in the comments protocol; null unless this is a reply.
    #[schema(required = true)]
    pub reply_to_id: Option<CommentId>,
    /// Nonce in the comments protocol; null for a mint-time comment.
    #[schema(required = true)]
    pub nonce: Option<CommentNonce>,
}

/// Longest comment text stored: a row with three previews must fit into 400 KB, a page of 21 into a Query's 1 MB.
pub const MAX_COMMENT_CHARACTERS: usize = 2_000;

/// Cuts a text from the chain to [`MAX_COMMENT_CHARACTERS`].
pub fn clip_comment(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_COMMENT_CHARACTERS) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(clip_comment("é".repeat(2_000)), "é".repeat(2_000));
        assert_eq!(clip_comment("é".repeat(2_001)), "é".repeat(2_000));
        assert_eq!(clip_comment(String::new()), "");
    }

    #[test]
    fn empty_and_too_long_comment_texts_are_refused() {
        let longest = "é".repeat(1_000);
        for text in ["!", "two\nlines", "🔥", &longest] {
            assert!(text.parse::<CommentText>().is_ok(), "{text:?} was refused");
        }
        for text in ["", " ", "\n", "a\tb", "a\u{0}", "\u{85}x", &format!("{longest}!")] {
            assert!(text.parse::<CommentText>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn comment_ids_are_32_bytes() {
        let id = format!("0x{}", "Ab".repeat(32));
        assert_eq!(id.parse::<CommentId>().unwrap().to_string(), id.to_lowercase());
        for text in
            ["", "0x", "0xab", &"ab".repeat(32), &format!("0x{}", "ab".repeat(33)), &format!("0x{}", "zz".repeat(32))]
        {
            assert!(text.parse::<CommentId>().is_err(), "{text:?} was accepted");
        }
    }
}
