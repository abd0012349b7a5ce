//! What is known of the files that a document names.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{invalid::Invalid, moment::parse_digits, schema::whole_schema};

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
}

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
