//! What a file is, by its content. Nothing is unpacked or decoded, so there is no bomb to go off.

use shared::model::UploadType;

use crate::svg::check_svg;

/// Longest text, vector picture or JSON, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// A type that was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// Its media type, with its charset.
    pub mime: &'static str,
    /// Whether [`check_text`] has the last word.
    pub is_text: bool,
}

/// Types that are checked as a whole, with what they are served as.
const TEXTS: [(&str, &str); 3] = [
    ("text/plain", "text/plain; charset=utf-8"),
    ("application/json", "application/json"),
    ("image/svg+xml", "image/svg+xml"),
];

/// Containers of pictures and sound alike: the client says which.
const CONTAINERS: [&str; 3] = ["mp4", "webm", "ogg"];

/// The type of a file that begins with `head`, or why it isn't taken.
pub fn look(declared: UploadType, size: u64, head: &[u8]) -> Result<Found, String> {
    let text = TEXTS.iter().find(|(name, _)| *name == declared.name());
    let found = if head.starts_with(b"glTF") {
        "model/gltf-binary"
    } else {
        match (infer::get(head).map(|found| found.mime_type()), text) {
            (None | Some("text/xml"), Some(&(_, mime))) => {
                if size > MAX_TEXT {
                    return Err(format!("{declared} may have at most {MAX_TEXT} bytes"));
                }
                return Ok(Found { mime, is_text: true });
            }
            (None, None) if declared.is_open() => {
                return Err("The file's content is of no known type: announce which it is, if it is a text".to_owned());
            }
            (None, None) => return Err(format!("The file was announced as {declared}, and its content isn't that")),
            (Some(found), _) => found,
        }
    };
    let refused = || Err(format!("The file was announced as {declared}, and its content is {found}{}", hint(found)));
    let Ok(known) = found.parse::<UploadType>() else { return refused() };
    if known.kind() == declared.kind() || declared.is_open() && TEXTS.iter().all(|(name, _)| *name != known.name()) {
        return Ok(Found { mime: known.name(), is_text: false });
    }
    // Their content begins alike with sound and with pictures.
    let container = |name: &str| CONTAINERS.into_iter().find(|container| name.ends_with(container));
    let is_media = |kind: &str| matches!(kind, "audio" | "video");
    let is_same = container(known.name()).is_some() && container(known.name()) == container(declared.name());
    if is_same && is_media(known.kind()) && is_media(declared.kind()) {
        return Ok(Found { mime: declared.name(), is_text: false });
    }
    refused()
}

/// What to do about a file of a type that isn't taken.
fn hint(found: &str) -> &'static str {
    if found.parse::<UploadType>().is_ok() {
        return "";
    }
    match found.split('/').next() {
        Some("image") => ": save it as PNG, JPEG, WebP or AVIF",
        Some("video") => ": save it as MP4 or WebM",
        Some("audio") => ": save it as M4A, MP3, FLAC or WAV",
        _ => ", which isn't taken",
    }
}

/// Checks the whole of a text; an error says what is wrong with it.
pub fn check_text(declared: UploadType, content: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(content).map_err(|_| format!("{declared} must be in UTF-8"))?;
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}')) {
        return Err(format!("The file was announced as {declared}, and it has control characters"));
    }
    match declared.name() {
        "application/json" => {
            let json = serde_json::from_str::<serde_json::Value>(text);
            json.map(drop).map_err(|error| format!("The file isn't valid JSON: {error}"))
        }
        "image/svg+xml" => check_svg(text),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_at(declared: &str, head: &[u8]) -> Result<&'static str, String> {
        look(declared.parse().unwrap(), 1_000, head).map(|found| found.mime)
    }

    #[test]
    fn the_content_decides() {
        let mp4 = b"\0\0\0\x18ftypisom\0\0\0\0isomiso2";
        for (declared, head, found) in [
            ("image/png", &b"\x89PNG\r\n\x1a\n"[..], "image/png"),
            ("image/png", b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            ("image/gif", b"GIF89a<script>alert(1)</script>", "image/gif"),
            ("video/mp4", mp4, "video/mp4"),
            ("audio/mp4", mp4, "audio/mp4"),
            ("model/gltf-binary", b"glTF\x02\0\0\0", "model/gltf-binary"),
            ("application/pdf", b"%PDF-1.7", "application/pdf"),
            ("text/plain", b"a <b>word</b>", "text/plain; charset=utf-8"),
            ("image/svg+xml", b"<?xml version=\"1.0\"?><svg/>", "image/svg+xml"),
        ] {
            assert_eq!(look_at(declared, head).as_deref(), Ok(found), "{declared}");
        }
    }

    #[test]
    fn what_it_is_not_is_refused() {
        for (declared, head) in [
            ("image/png", &b"<!DOCTYPE html><script>alert(1)</script>"[..]),
            ("text/plain", b"<!DOCTYPE html>"),
            ("image/svg+xml", b"<html><body/></html>"),
            ("image/png", b"PK\x03\x04\x14\0\0\0\x08\0"),
            ("image/svg+xml", b"\x1f\x8b\x08\0\0\0\0\0"),
            ("application/json", b"PK\x03\x04\x14\0\0\0\x08\0"),
            ("image/png", b"words"),
            ("video/mp4", b"\x89PNG\r\n\x1a\n"),
            ("application/pdf", b"MZ\x90\0\x03\0\0\0"),
            ("audio/mpeg", b"\x7fELF\x02\x01\x01\0"),
        ] {
            assert!(look_at(declared, head).is_err(), "{declared} of {head:?}");
        }
        assert!(look("image/svg+xml".parse().unwrap(), MAX_TEXT + 1, b"<svg/>").is_err());
    }

    #[test]
    fn what_phones_make_is_taken_whatever_they_call_it() {
        let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
        let mov = b"\0\0\0\x14ftypqt  \0\0\0\0qt  ";
        let m4a = b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42";
        for (named, head, found) in [
            ("image/heic", &heic[..], "image/heif"),
            ("video/quicktime", mov, "video/quicktime"),
            ("audio/x-m4a", m4a, "audio/mp4"),
            ("model/gltf-binary", b"glTF\x02\0\0\0", "model/gltf-binary"),
        ] {
            assert_eq!(look_at(named, head), Ok(found), "{named}");
            assert_eq!(look_at("application/octet-stream", head), Ok(found), "{named} without a name");
        }
        let tiff = look_at("image/png", b"II*\0\x08\0\0\0\0\0\0\0\0\0\0\0").unwrap_err();
        assert!(tiff.ends_with("image/tiff: save it as PNG, JPEG, WebP or AVIF"), "{tiff}");
        for text in [&b"a word"[..], b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<?xml version='1.0'?><svg/>"] {
            assert!(look_at("application/octet-stream", text).is_err(), "a text has to be announced");
        }
    }

    #[test]
    fn the_whole_of_a_text_is_checked() {
        let check = |declared: &str, content: &[u8]| check_text(declared.parse().unwrap(), content);
        let picture = br#"<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>"#;
        assert_eq!(check("image/svg+xml", picture), Ok(()));
        assert!(check("image/svg+xml", b"<svg>\0</svg>").is_err());
        assert!(check("text/plain", b"\xff\xfe<\0s\0").is_err());
        assert!(check("application/json", b"{").is_err());
    }
}
