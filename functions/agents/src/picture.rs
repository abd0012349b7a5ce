//! Pictures as agents name them.

use std::str::FromStr;

use shared::{http::Scalar, model::Invalid};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

/// Longest URI, in bytes: a `data:` URI is the picture itself.
const LONGEST: usize = 600 * 1024;

/// What is said of a longer one.
pub const TOO_LARGE: &str = "is a picture of more than 400 kB: give its https:// address instead, or upload it with \
    POST /uploads and give the ipfs:// URI that this answers";

const SCHEMES: [&str; 4] = ["ipfs://", "ar://", "https://", "data:image/"];

/// URI of a picture, or the picture itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureUri(String);

impl PictureUri {
    /// The URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether what it leads to can change or go.
    pub fn is_to_be_stored(&self) -> bool {
        self.0.starts_with("https://") || self.0.starts_with("data:")
    }
}

impl FromStr for PictureUri {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_known = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
        if !is_known || text.chars().any(|character| character.is_control() || character == ' ') {
            return Err(Invalid(
                "must be an address that begins with ipfs://, ar:// or https://, or a data: URI of a picture, without spaces",
            ));
        }
        if text.len() > LONGEST {
            return Err(Invalid(TOO_LARGE));
        }
        Ok(Self(text.to_owned()))
    }
}

impl Scalar for PictureUri {}

impl ToSchema for PictureUri {}

impl PartialSchema for PictureUri {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples(["https://example.com/fog.png"]);
        schema
            .description(Some(
                "`https://…`, `ipfs://…`, `ar://…`, or a picture of 400 kB at most as `data:image/png;base64,…`.",
            ))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_on_the_web_or_the_text_itself() {
        for (text, is_stored) in
            [("https://a.example/1.png", true), ("data:image/png;base64,AA==", true), ("ipfs://x", false)]
        {
            assert_eq!(text.parse::<PictureUri>().map(|uri| uri.is_to_be_stored()), Ok(is_stored), "{text}");
        }
        for text in [
            "",
            "http://a.example/1.png",
            "data:text/html,x",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://a b",
        ] {
            assert!(text.parse::<PictureUri>().is_err(), "{text}");
        }
        let large = format!("data:image/png;base64,{}", "A".repeat(LONGEST)).parse::<PictureUri>();
        assert_eq!(large, Err(Invalid(TOO_LARGE)));
    }
}
