//! What is known of the files that a document names.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    invalid::Invalid,
    schema::whole_schema,
    text::{parse_digits, serde_as_text},
};

/// The picture that stands for a document, and its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previews {
    /// The picture; `None` if it can't be shown.
    pub picture: Option<Picture>,
    /// The content; empty where nothing is known.
    #[serde(default)]
    pub content: Measures,
}

/// A picture with smaller forms of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// URI that the document names it by.
    pub uri: String,
    /// In pixels, as it is shown.
    pub width: u32,
    /// In pixels, as it is shown.
    pub height: u32,
    /// Its forms, narrowest first.
    pub forms: Vec<Form>,
    /// ThumbHash (<https://evanw.github.io/thumbhash/>) in base64.
    pub placeholder: String,
    /// Average colour, such as `#a1b2c3`; `None` of a picture that one can see through.
    pub color: Option<String>,
    /// How it looks; `None` of a picture that is too plain to be told from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// Perceptual hash of a picture: 128 comparisons of neighbours in it, which survive another size, format or quality
/// (difference hash, <https://www.hackerfactor.com/blog/index.php?/archives/529-Kind-of-Like-That.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u128);

/// Most comparisons in which pictures of the same thing differ.
const SAME_WITHIN: u32 = 10;

impl Fingerprint {
    /// Whether the pictures look alike.
    pub fn resembles(self, other: Self) -> bool {
        (self.0 ^ other.0).count_ones() <= SAME_WITHIN
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bits = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
        bits.map(Self).ok_or(Invalid("must have 32 hexadecimal digits"))
    }
}

serde_as_text!(Fingerprint);

/// A smaller form of a picture, in WebP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// Width of a form, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewWidth(u32);

/// Size and length of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// In pixels, as it is shown.
    pub width: Option<u32>,
    /// In pixels, as it is shown.
    pub height: Option<u32>,
    /// In bytes.
    pub size: Option<u64>,
    /// In milliseconds.
    pub duration: Option<u64>,
}

impl Picture {
    /// Media type of the forms.
    pub const MIME: &str = "image/webp";

    /// The name under which forms of the picture with this URI are kept: its SHA-256, in hexadecimal.
    pub fn hash(uri: &str) -> String {
        alloy::hex::encode(Sha256::digest(uri))
    }

    /// The object of a form in the bucket.
    pub fn object(hash: &str, width: u32) -> String {
        Self::objects(hash) + &width.to_string()
    }

    /// How the objects of all forms begin.
    pub fn objects(hash: &str) -> String {
        format!("previews/{hash}/")
    }
}

impl PreviewWidth {
    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for PreviewWidth {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let width = parse_digits(text).filter(|width| (1..=1280).contains(width));
        width.map(Self).ok_or(Invalid("must be a whole number from 1 to 1280"))
    }
}

whole_schema!(PreviewWidth, "Width in pixels.", 640, 1, 1280);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_is_what_differs_in_little() {
        let one: Fingerprint = "00ff00ff00ff00ff00ff00ff00ff00ff".parse().unwrap();
        assert_eq!(one.to_string().parse(), Ok(one));
        assert!(one.resembles(one) && one.resembles(Fingerprint(one.0 ^ 0x3ff)));
        assert!(!one.resembles(Fingerprint(one.0 ^ 0x7ff)));
        assert!(
            "".parse::<Fingerprint>().is_err() && "+0ff00ff00ff00ff00ff00ff00ff00f".parse::<Fingerprint>().is_err()
        );
    }
}
