//! What a moment shows: a picture, a film, a sound, a text or a link to anything else.

use maud::{Markup, html};
use shared::{
    api::read::Site,
    model::{ContentType, Metadata},
};

/// The address from which a browser loads a URI of metadata: this service's files for `ipfs://`, and nothing for other
/// hosts, which would learn who looks.
pub fn file(site: &Site, uri: &str) -> Option<String> {
    let path = uri.strip_prefix("ipfs://")?;
    let path = path.strip_prefix("ipfs/").unwrap_or(path);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~' | '%');
    let is_safe = !path.is_empty() && path.chars().all(is_plain) && !path.split('/').any(|part| part == "..");
    is_safe.then(|| site.endpoint(&format!("/ipfs/{path}")))
}

/// The picture that stands for a moment in a list, and in messengers; `None` without one.
pub fn picture(site: &Site, metadata: &Metadata) -> Option<String> {
    let is_picture = metadata.content_type() == Some(ContentType::Image);
    let content = if is_picture { file(site, &metadata.content.uri) } else { None };
    file(site, &metadata.image).or(content)
}

/// The work itself, with the controls that its kind needs.
pub fn work(site: &Site, title: &str, metadata: Option<&Metadata>) -> Markup {
    let Some(metadata) = metadata else {
        return html! { div .absent { p { "The metadata of this moment has not been read yet." } } };
    };
    let (content, poster) = (file(site, &metadata.content.uri), picture(site, metadata));
    match (metadata.content_type(), content) {
        (Some(ContentType::Video), Some(source)) => html! {
            video controls loop playsinline preload="metadata" poster=[poster] src=(source) { (title) }
        },
        (Some(ContentType::Audio), Some(source)) => html! {
            @if let Some(poster) = poster { img src=(poster) alt=(title); }
            audio controls preload="metadata" src=(source) { (title) }
        },
        (Some(ContentType::Text), Some(source)) => html! {
            p .reading { a href=(source) { "Read “" (title) "”" } }
        },
        (Some(ContentType::Image) | None, _) if poster.is_some() => html! {
            img src=(poster.unwrap_or_default()) alt=(title) decoding="async" fetchpriority="high";
        },
        (_, Some(source)) => html! {
            @if let Some(poster) = poster { img src=(poster) alt=(title); }
            p .reading { a href=(source) { "Open the file (" (metadata.content.mime) ")" } }
        },
        _ => html! {
            @if let Some(poster) = poster { img src=(poster) alt=(title); }
            @else { div .absent { p { "This moment’s file is kept elsewhere." } } }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ipfs_are_loaded_and_never_from_above() {
        let site = Site::from_env();
        assert_eq!(file(&site, "ipfs://bafy/1.png").as_deref(), Some("/api/ipfs/bafy/1.png"));
        for uri in
            ["https://a.example/x.png", "data:image/png;base64,AA", "ipfs://a/../b", "ipfs://", "ipfs://a\"b", ""]
        {
            assert_eq!(file(&site, uri), None, "{uri}");
        }
    }
}
