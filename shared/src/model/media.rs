use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};
use uuid::Uuid;

use super::{
    invalid::Invalid,
    schema::{LINE, format, text_schema, whole_schema},
    text::{display_as_field, serde_as_text, uuid_as_text},
};

/// Id of an upload; sorts by time of creation (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UploadId(Uuid);

/// Size of a file: 1 byte to 2 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadSize(pub u64);

/// Type of a file that can be uploaded, one of those that are safe to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadType(&'static str);

/// Form of a block: its bytes as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFormat;

/// A media type without parameters, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType(String);

/// SHA-256 of a file, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHash(String);

/// Title of a moment: one line of up to 200 characters, trimmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(pub String);

/// A text on any number of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongText(pub String);

/// Address of a web page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebUrl(String);

/// Types of files that can be uploaded: none that a browser would run.
const UPLOAD_TYPES: [&str; 23] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/heif",
    "image/bmp",
    "image/svg+xml",
    "video/mp4",
    "video/webm",
    "video/quicktime",
    "video/ogg",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/webm",
    "audio/wav",
    "audio/flac",
    "model/gltf-binary",
    "application/pdf",
    "application/json",
    "text/plain",
    OPEN,
];

/// What clients say that don't know: the content decides alone.
const OPEN: &str = "application/octet-stream";

const ALIASES: [(&str, &str); 12] = [
    ("image/jpg", "image/jpeg"),
    ("image/heic", "image/heif"),
    ("video/x-m4v", "video/mp4"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/m4a", "audio/mp4"),
    ("audio/x-m4a", "audio/mp4"),
    ("audio/x-wav", "audio/wav"),
    ("audio/wave", "audio/wav"),
    ("audio/vnd.wave", "audio/wav"),
    ("audio/x-flac", "audio/flac"),
    ("image/x-ms-bmp", "image/bmp"),
    ("text/markdown", "text/plain"),
];

const MAX_UPLOAD: u64 = 2 << 30;

text_schema!(
    RawFormat,
    "Asks for the block alone, as it is hashed.",
    "raw",
    title = "RawFormat",
    enum_values = ["raw"]
);
text_schema!(UploadId, "Id of an upload.", "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c", format = format("uuid"));
whole_schema!(UploadSize, "Size of a file in bytes.", 482_113, 1, 2_147_483_648_usize);
text_schema!(
    MediaType,
    "A media type; parameters are ignored.",
    "image/png",
    max_length = 127_usize,
    pattern = "^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,62}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,62}$",
);
text_schema!(
    FileHash,
    "SHA-256 of a file, in hexadecimal.",
    "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
    pattern = "^[0-9a-fA-F]{64}$",
);
text_schema!(Title, "A title: one line.", "High water", min_length = 1_usize, max_length = 200_usize, pattern = LINE);
text_schema!(
    LongText,
    "Text on any number of lines.",
    "The sea came in at four.",
    min_length = 1_usize,
    max_length = 50_000_usize,
    pattern = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$",
);
text_schema!(
    WebUrl,
    "Address of a web page.",
    "https://example.com/tides",
    max_length = 2_048_usize,
    pattern = r"^https?://([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?(:[0-9]{1,4})?([/?#][!-~]*)?$",
);

impl UploadId {
    /// A new id, which sorts after all earlier ones.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }

    /// Its object in the bucket.
    pub fn object(self) -> String {
        format!("uploads/{self}")
    }
}

impl FromStr for RawFormat {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "raw" { Ok(Self) } else { Err(Invalid("must be raw: other forms aren't served")) }
    }
}

impl FromStr for UploadSize {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(size) if (1..=MAX_UPLOAD).contains(&size) => Ok(Self(size)),
            _ => Err(Invalid("must be a whole number of bytes from 1 to 2147483648 (2 GiB)")),
        }
    }
}

impl UploadType {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether the content decides alone.
    pub fn is_open(self) -> bool {
        self.0 == OPEN
    }

    /// The part before the slash.
    pub fn kind(self) -> &'static str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl FromStr for UploadType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, own)| own);
        let found = UPLOAD_TYPES.into_iter().find(|known| *known == name);
        found.map(Self).ok_or(Invalid(
            "must be the type of a picture, video, sound, glTF model (model/gltf-binary), PDF, JSON or plain text, or \
             application/octet-stream if you don't know it",
        ))
    }
}

impl ToSchema for UploadType {}

impl PartialSchema for UploadType {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).description(Some("Type of a file."));
        text.enum_values(Some(UPLOAD_TYPES)).examples(["image/png"]).into()
    }
}

impl FromStr for MediaType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_part = |part: &str| {
            let mut bytes = part.bytes();
            bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
                && part.len() <= 63
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
        };
        match name.split_once('/') {
            Some((kind, subtype)) if is_part(kind) && is_part(subtype) => Ok(Self(name)),
            _ => Err(Invalid("must be a media type such as image/png")),
        }
    }
}

impl FromStr for FileHash {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Invalid("must be a SHA-256: 64 hexadecimal digits"));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl FromStr for Title {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let title = text.trim();
        if title.is_empty() || title.chars().count() > 200 || title.chars().any(char::is_control) {
            return Err(Invalid("must be 1 to 200 characters long, without control characters"));
        }
        Ok(Self(title.to_owned()))
    }
}

impl FromStr for LongText {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_wrong = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        if text.is_empty() || text.chars().count() > 50_000 || text.chars().any(is_wrong) {
            return Err(Invalid(
                "must be 1 to 50000 characters long, without control characters but tabs and line breaks (\\n)",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for WebUrl {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > 2_048 || text.chars().any(|c| c.is_control() || c == ' ') {
            return Err(Invalid("must be at most 2048 bytes long, without spaces and control characters"));
        }
        match text.parse::<url::Url>() {
            Ok(url) if matches!(url.scheme(), "https" | "http") => Ok(Self(text.to_owned())),
            Ok(_) | Err(url::ParseError::RelativeUrlWithoutBase) => {
                Err(Invalid("must be a URL that starts with https:// or http://"))
            }
            Err(_) => Err(Invalid("must be a URL with a host, such as https://example.com/about")),
        }
    }
}

uuid_as_text!(UploadId);
display_as_field!(UploadType, MediaType, FileHash, Title, LongText, WebUrl);
serde_as_text!(MediaType);
serde_as_text!(UploadType);
serde_as_text!(FileHash);
serde_as_text!(WebUrl);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_in_lower_case_and_without_parameters() {
        let parse = |text: &str| text.parse::<MediaType>().map(|found| found.to_string());
        assert_eq!(parse("Image/PNG; q=1").as_deref(), Ok("image/png"));
        assert_eq!(parse("image/svg+xml").as_deref(), Ok("image/svg+xml"));
        for text in ["", "image", "/png", "image/", "a b/c", "image/png\r\nx: y", "a/b/c", "é/x"] {
            assert!(parse(text).is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn files_that_browsers_run_cannot_be_uploaded() {
        let parse = |text: &str| text.parse::<UploadType>().map(UploadType::name);
        assert_eq!(parse("Image/JPG"), Ok("image/jpeg"));
        assert_eq!(parse("text/plain; charset=utf-8"), Ok("text/plain"));
        for text in ["text/html", "application/xhtml+xml", "text/javascript", "application/zip", "image/", "*/*", ""] {
            assert!(parse(text).is_err(), "{text:?} was accepted");
        }
        assert!(ALIASES.iter().all(|(_, own)| UPLOAD_TYPES.contains(own)));
    }

    #[test]
    fn bounds_hold() {
        let sizes = ["1", "2147483648"].map(|text| text.parse::<UploadSize>().is_ok());
        let wrong = ["0", "2147483649", "-1", "1.5", ""].map(|text| text.parse::<UploadSize>().is_ok());
        assert_eq!((sizes, wrong), ([true; 2], [false; 5]));
        assert!("javascript:alert(1)".parse::<WebUrl>().is_err() && "https://a.example/x".parse::<WebUrl>().is_ok());
        assert!("a\nb\tc".parse::<LongText>().is_ok() && "a\0".parse::<LongText>().is_err());
        assert!("a\nb".parse::<Title>().is_err() && "x".repeat(201).parse::<Title>().is_err());
        assert!("x".repeat(64).parse::<FileHash>().is_err() && "A".repeat(64).parse::<FileHash>().is_ok());
    }
}
