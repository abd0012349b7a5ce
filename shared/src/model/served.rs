//! What browsers are told of a file besides its bytes.

use super::cid::Cid;

/// For caches: a file never changes under its CID.
pub const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Browsers neither run what is in a file nor load anything for it.
pub const FILES_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'; sandbox";

/// The `content-type` of a file of this media type. A drawing names its charset as a text does, so that no declaration in
/// it can say another (<https://www.rfc-editor.org/rfc/rfc7303#section-3>). JSON has no such parameter.
pub fn served_type(mime: &str) -> &str {
    if mime == "image/svg+xml" { "image/svg+xml; charset=utf-8" } else { mime }
}

/// The `content-disposition` of a file: whether a browser that opens it shows or saves it, and under which name.
pub fn disposition(cid: Cid, mime: &str) -> String {
    let how = if is_saved(mime) { "attachment" } else { "inline" };
    format!("{how}; filename=\"{cid}.{}\"", extension(mime))
}

/// The end of the name that a file is saved under.
fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/avif" => "avif",
        "image/heif" => "heic",
        "image/bmp" => "bmp",
        "image/svg+xml" => "svg",
        "video/mp4" => "mp4",
        "video/webm" | "audio/webm" => "webm",
        "video/quicktime" => "mov",
        "video/ogg" | "audio/ogg" => "ogg",
        "audio/mpeg" => "mp3",
        "audio/mp4" => "m4a",
        "audio/wav" => "wav",
        "audio/flac" => "flac",
        "model/gltf-binary" => "glb",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "text/plain" => "txt",
        _ => "bin",
    }
}

/// Whether browsers save a file that is opened by itself: one that could look like a page of this host. Within pages,
/// pictures show all the same.
fn is_saved(mime: &str) -> bool {
    let kind = mime.split('/').next().unwrap_or_default();
    mime == "image/svg+xml" || mime != "application/json" && matches!(kind, "application" | "model")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_names_its_charset() {
        assert_eq!(served_type("image/svg+xml"), "image/svg+xml; charset=utf-8");
        for mime in ["text/plain; charset=utf-8", "application/json", "image/png"] {
            assert_eq!(served_type(mime), mime);
        }
    }

    #[test]
    fn what_could_look_like_a_page_is_saved() {
        for mime in ["image/svg+xml", "application/pdf", "model/gltf-binary"] {
            assert!(is_saved(mime), "{mime}");
        }
        for mime in ["image/png", "video/mp4", "audio/mpeg", "text/plain; charset=utf-8", "application/json"] {
            assert!(!is_saved(mime), "{mime}");
        }
        assert_eq!((extension("text/plain; charset=utf-8"), extension("image/svg+xml")), ("txt", "svg"));
    }
}
