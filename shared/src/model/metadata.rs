use std::{fmt, str::FromStr};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{invalid::Invalid, schema::text_schema, text::serde_as_text};

/// The metadata document of a moment or collection; missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Title, cut to 256 characters.
    pub name: String,
    /// URI of a picture.
    pub image: String,
    /// Text, cut to 2000 characters.
    pub description: String,
    /// File that the moment consists of.
    pub content: Content,
    /// Address of a page about it.
    #[serde(default)]
    pub external_url: String,
    /// URI of a film, sound or page.
    #[serde(default)]
    pub animation_url: String,
    /// What it shows, for people who can't see it: the trait `Alt text`, cut to 1000 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub alt: String,
}

/// The file that a moment consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Media type, such as `image/png`.
    pub mime: String,
    /// URI of the file.
    pub uri: String,
}

/// Most bytes of a document's texts and different URIs.
const MAX_BYTES: usize = 16 * 1024;

/// Longest name stored.
pub const MAX_NAME_CHARACTERS: usize = 256;

/// Longest description stored.
pub const MAX_DESCRIPTION_CHARACTERS: usize = 2_000;

const MAX_MIME_CHARACTERS: usize = 128;

const MAX_ALT_CHARACTERS: usize = 1_000;

/// Longest URI stored; a `data:` URI of a picture can have thousands of bytes.
const MAX_URI_BYTES: usize = 8 * 1024;

const MAX_WEB_URL_BYTES: usize = 2 * 1024;

impl Metadata {
    /// Reads a document leniently: a value of a wrong type counts as missing. `None` unless it is a JSON object.
    pub fn from_json(document: &Value) -> Option<Self> {
        let document = document.as_object()?;
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        let content = |name: &str| document.get("content").and_then(|content| content.get(name)?.as_str());
        let image = uri(text("image"));
        // Documents without `content` name the file as `animation_url`, or have only a picture.
        let animation_url = uri(text("animation_url"));
        let named = [uri(content("uri").unwrap_or_default()), animation_url.clone()].into_iter();
        let file = named.chain([image.clone()]).find(|uri| !uri.is_empty());
        let mime = content("mime").unwrap_or_else(|| text("mime_type"));
        let mut metadata = Self {
            name: clip(text("name"), MAX_NAME_CHARACTERS),
            description: clip(text("description"), MAX_DESCRIPTION_CHARACTERS),
            content: Content { mime: clip(mime, MAX_MIME_CHARACTERS), uri: file.unwrap_or_default() },
            image,
            external_url: web_url(text("external_url")),
            animation_url,
            alt: clip(described(document), MAX_ALT_CHARACTERS),
        };
        metadata.drop_what_exceeds();
        Some(metadata)
    }

    /// Drops the URIs, the least important first, with which it would have more than [`MAX_BYTES`].
    fn drop_what_exceeds(&mut self) {
        let Self { name, image, description, content, external_url, animation_url, alt } = self;
        let mut size: usize = [name, description, &mut content.mime, alt].into_iter().map(|text| text.len()).sum();
        let mut kept: Vec<String> = Vec::new();
        for uri in [&mut content.uri, image, animation_url, external_url] {
            let is_again = kept.contains(uri);
            if is_again || size + uri.len() <= MAX_BYTES {
                size += if is_again { 0 } else { uri.len() };
                kept.push(uri.clone());
            } else {
                uri.clear();
            }
        }
    }

    /// Kind of media of the content; `None` without a known media type.
    pub fn content_type(&self) -> Option<ContentType> {
        ContentType::of_media_type(&self.content.mime)
    }
}

/// A kind of media: the part of a media type before its slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContentType {
    /// `application/*`, such as PDF.
    Application,
    /// `audio/*`
    Audio,
    /// `font/*`
    Font,
    /// `image/*`
    Image,
    /// `model/*`: three-dimensional models.
    Model,
    /// `text/*`
    Text,
    /// `video/*`
    Video,
}

impl ContentType {
    /// Kind of a media type; `None` if it isn't known.
    pub fn of_media_type(mime: &str) -> Option<Self> {
        mime.split('/').next()?.to_ascii_lowercase().parse().ok()
    }

    /// The part of a media type before the slash.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Audio => "audio",
            Self::Font => "font",
            Self::Image => "image",
            Self::Model => "model",
            Self::Text => "text",
            Self::Video => "video",
        }
    }
}

impl FromStr for ContentType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        [Self::Application, Self::Audio, Self::Font, Self::Image, Self::Model, Self::Text, Self::Video]
            .into_iter()
            .find(|content_type| content_type.as_str() == text)
            .ok_or(Invalid("must be one of: application, audio, font, image, model, text, video"))
    }
}

impl fmt::Display for ContentType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

serde_as_text!(ContentType);

text_schema!(
    ContentType,
    "A kind of media: the part of a media type before the slash.",
    "image",
    enum_values = ["application", "audio", "font", "image", "model", "text", "video"],
);

/// Documents have no field of their own for it: as a trait, others' galleries show it too.
fn described(document: &Map<String, Value>) -> &str {
    let traits = document.get("attributes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_alt = |it: &&Value| it["trait_type"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("alt text"));
    traits.iter().find(is_alt).and_then(|it| it["value"].as_str()).unwrap_or_default().trim()
}

/// Drops control characters other than line breaks and tabs, and cuts between characters.
fn clip(text: &str, max_characters: usize) -> String {
    let is_kept = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    text.chars().filter(is_kept).take(max_characters).collect()
}

/// Characters that no URI has, besides those that aren't ASCII (RFC 3986, 2); `%` stands for those that are written so.
const NOT_IN_URIS: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// Drops a URI that is too long, since a part of one leads nowhere, or that may run a script. Writes characters that no URI has
/// as browsers do, who find the same there: drawings in `data:` URIs have them.
fn uri(text: &str) -> String {
    let text = text.trim();
    if text.len() > MAX_URI_BYTES || text.chars().any(char::is_control) || may_run(text) {
        return String::new();
    }
    let uri = utf8_percent_encode(text, NOT_IN_URIS).to_string();
    if uri.len() <= MAX_URI_BYTES { uri } else { String::new() }
}

/// Whether it is a script, or a document in itself other than a picture or JSON.
fn may_run(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    match scheme.trim().to_ascii_lowercase().as_str() {
        "javascript" | "vbscript" => true,
        "data" => {
            let start: String = rest.trim_start().chars().take(16).collect();
            !["image/", "application/json"].iter().any(|safe| start.to_ascii_lowercase().starts_with(safe))
        }
        _ => false,
    }
}

/// Drops what is no address on the web.
fn web_url(text: &str) -> String {
    let is_web = |scheme: &str| text.trim().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let is_kept = text.len() <= MAX_WEB_URL_BYTES && (is_web("https://") || is_web("http://"));
    if is_kept { uri(text) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_from_a_document() {
        let document = json!({
            "name": "First Light", "description": "Five\nin the morning", "image": "ipfs://a/1.png",
            "content": {"mime": "video/mp4", "uri": "ar://b"}, "external_url": "https://a.example", "animation_url": "ar://c",
        });
        let metadata = Metadata::from_json(&document).unwrap();
        assert_eq!((metadata.name.as_str(), metadata.description.as_str()), ("First Light", "Five\nin the morning"));
        assert_eq!((metadata.content.mime.as_str(), metadata.content.uri.as_str()), ("video/mp4", "ar://b"));
        assert_eq!(metadata.content_type(), Some(ContentType::Video));
        assert_eq!((metadata.external_url.as_str(), metadata.animation_url.as_str()), ("https://a.example", "ar://c"));
        let other = json!({"external_url": "data:text/html,x", "animation_url": "javascript:alert(1)"});
        assert_eq!(Metadata::from_json(&other), Some(Metadata::default()));
        for (uri, is_kept) in [
            ("data:image/svg+xml,%3Csvg/%3E", true),
            ("data:Image/PNG;base64,AA", true),
            ("data:application/json,7", true),
            ("data:text/html,x", false),
            ("DATA:,x", false),
            ("data:application/xhtml+xml,x", false),
        ] {
            let image = Metadata::from_json(&json!({"image": uri})).unwrap().image;
            assert_eq!(image == uri, is_kept, "{uri}");
        }
    }

    #[test]
    fn alternative_text_is_a_trait() {
        let alt = |attributes| Metadata::from_json(&json!({"attributes": attributes})).unwrap().alt;
        let mood = json!({"trait_type": "Mood", "value": "fog"});
        assert_eq!(alt(json!([mood, {"trait_type": "alt TEXT", "value": " A pier\u{7} "}])), "A pier");
        assert_eq!(alt(json!([{"trait_type": "Alt text", "value": "a".repeat(1_200)}])).len(), 1_000);
        for attributes in
            [json!([mood]), json!([{"trait_type": "Alt text", "value": 7}]), json!("Alt text"), json!([[]])]
        {
            assert_eq!(alt(attributes.clone()), "", "{attributes}");
        }
    }

    #[test]
    fn values_of_a_wrong_type_count_as_missing() {
        let empty = Metadata::default();
        for document in [
            json!({}),
            json!({"name": 7, "image": {"url": "x"}, "description": null, "content": "x"}),
            json!({"name": ["a"], "content": {"mime": true, "uri": 1}}),
            json!({"content": []}),
        ] {
            assert_eq!(Metadata::from_json(&document), Some(empty.clone()), "{document}");
        }
        for document in [json!(null), json!("text"), json!([{"name": "a"}]), json!(3)] {
            assert_eq!(Metadata::from_json(&document), None, "{document}");
        }
    }

    #[test]
    fn content_falls_back_to_the_animation_then_to_the_picture() {
        let content = |document| Metadata::from_json(&document).unwrap().content.uri;
        assert_eq!(content(json!({"image": "ar://i", "animation_url": "ar://a"})), "ar://a");
        assert_eq!(content(json!({"image": "ar://i", "content": {"uri": ""}})), "ar://i");
    }

    #[test]
    fn uris_have_characters_of_uris_alone() {
        for (given, uri) in [
            ("data:image/svg+xml,<svg width=\"1\"/>", "data:image/svg+xml,%3Csvg%20width=%221%22/%3E"),
            ("ipfs://a/my picture.png", "ipfs://a/my%20picture.png"),
            ("https://a.example/\u{e9}?q=%20|^#~[1]", "https://a.example/%C3%A9?q=%20%7C%5E#~[1]"),
            (&"\"".repeat(2_730), &"%22".repeat(2_730)),
            (&"\"".repeat(2_731), ""),
        ] {
            assert_eq!(Metadata::from_json(&json!({"image": given})).unwrap().image, uri);
        }
    }

    #[test]
    fn a_document_is_bounded() {
        let texts = json!({"name": "\u{1f30a}".repeat(300), "description": "\u{1f30a}".repeat(2_000)});
        let (long, other) = ("ar://".to_owned() + &"i".repeat(7_000), "ar://".to_owned() + &"a".repeat(7_000));
        let with = |uris: Value| {
            let mut document = texts.clone();
            document.as_object_mut().unwrap().extend(uris.as_object().unwrap().clone());
            Metadata::from_json(&document).unwrap()
        };
        // The same URI counts once, and the content is dropped last.
        let one = with(json!({"image": long}));
        assert_eq!([&one.image, &one.content.uri], [&long, &long]);
        let two = with(json!({"image": long, "animation_url": other, "external_url": "https://a.example"}));
        assert_eq!([two.image.as_str(), &two.animation_url, &two.content.uri], ["", &other, &other]);
        assert_eq!(two.external_url, "https://a.example");
    }

    #[test]
    fn long_texts_are_cut_and_unusable_uris_dropped() {
        let document = json!({
            "name": "é\u{0}".repeat(300), "description": "d".repeat(9_000), "image": "i".repeat(9_000),
            "content": {"mime": "m".repeat(500), "uri": "JavaScript:alert(1)"},
        });
        let metadata = Metadata::from_json(&document).unwrap();
        assert_eq!(metadata.name, "é".repeat(256));
        assert_eq!(metadata.description.len(), 2_000);
        assert_eq!(metadata.content.mime.len(), 128);
        assert_eq!((metadata.image.as_str(), metadata.content.uri.as_str()), ("", ""));
    }
}
