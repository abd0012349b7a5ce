use std::{fmt, str::FromStr};

use super::{invalid::Invalid, schema::text_schema, text::serde_as_text};

/// URI of a metadata document: 1 to 2048 characters, `ipfs://`, `ar://`, `https://` or `data:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataUri(String);

impl MetadataUri {
    /// The URI as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MetadataUri {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let schemes = ["ipfs://", "ar://", "https://", "data:"];
        let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).filter(|rest| !rest.is_empty());
        if rest.is_none() {
            return Err(Invalid("must be a URI that starts with ipfs://, ar://, https:// or data:"));
        }
        if text.chars().count() > 2_048 || text.chars().any(|character| character.is_control() || character == ' ') {
            return Err(Invalid("must be at most 2048 characters long, without spaces and control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for MetadataUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

serde_as_text!(MetadataUri);

text_schema!(
    MetadataUri,
    "URI of a metadata document: `ipfs://`, `ar://`, `https://` or `data:`, without spaces and control characters.",
    "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    max_length = 2_048_usize,
    pattern = r"^(ipfs://|ar://|https://|data:)[^\x00-\x20\x7f-\x9f]+$",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemes_and_unsafe_characters_are_refused() {
        let longest = format!("ar://{}", "x".repeat(2_043));
        for text in ["ipfs://bafy/1.json", "ar://abc", "https://a.example/x?y=1", "data:application/json,{}", &longest]
        {
            assert!(text.parse::<MetadataUri>().is_ok(), "{text} was refused");
        }
        for text in [
            "",
            "ipfs://",
            "http://a.example",
            "javascript:alert(1)",
            "bafy",
            "IPFS://x",
            "ar://a b",
            "ar://a\nb",
            &format!("{longest}x"),
        ] {
            assert!(text.parse::<MetadataUri>().is_err(), "{text:?} was accepted");
        }
    }
}
