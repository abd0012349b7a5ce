//! What a moment shows: a picture, a film, a sound, a text or a link to anything else.

use maud::{Markup, html};
use shared::{
    api::read::{MetadataView, Preview, Site},
    model::ContentType,
};

/// The address from which a browser loads a URI of metadata: this service's files for `ipfs://`, and nothing for other
/// hosts, which would learn who looks.
pub fn file(site: &Site, uri: &str) -> Option<String> {
    let path = uri.strip_prefix("ipfs://")?;
    let path = path.strip_prefix("ipfs/").unwrap_or(path);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~' | '%');
    let is_safe = !path.is_empty() && path.chars().all(is_plain) && !path.split('/').any(|part| part == "..");
    is_safe.then(|| site.file(&format!("/ipfs/{path}")))
}

/// Address of the picture that stands for a moment, for messengers and feeds; `None` without one.
pub fn picture(site: &Site, metadata: &MetadataView) -> Option<String> {
    let widest = metadata.previews.last().map(|preview| preview.url.clone());
    widest.or_else(|| original(site, metadata))
}

/// The picture as it was published, if it is kept here.
fn original(site: &Site, metadata: &MetadataView) -> Option<String> {
    let is_picture = metadata.content_type() == Some(ContentType::Image);
    let content = if is_picture { file(site, &metadata.content.uri) } else { None };
    file(site, &metadata.image).or(content)
}

/// Where a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a list, at this place of it.
    List(usize),
    /// As the work.
    Work,
}

impl Place {
    /// Pictures of a list that are on the screen at first.
    const FIRST: usize = 4;

    fn sizes(self) -> &'static str {
        match self {
            Self::List(_) => "(min-width: 40rem) 20rem, 92vw",
            Self::Work => "(min-width: 84rem) 80rem, 96vw",
        }
    }

    /// Where the picture stands in its box, as the style sheet has it.
    fn alignment(self) -> &'static str {
        if self == Self::Work { "xMidYMid" } else { "xMinYMax" }
    }

    fn is_late(self) -> bool {
        matches!(self, Self::List(place) if place >= Self::FIRST)
    }

    fn is_first(self) -> bool {
        matches!(self, Self::Work | Self::List(0))
    }
}

/// A picture over its colour, in the place that it will need; `None` without one that can be shown. A drawing or an
/// animation is shown as the work itself.
pub fn image(site: &Site, metadata: &MetadataView, alt: &str, place: Place) -> Option<Markup> {
    let is_itself = place == Place::Work && matches!(metadata.content.mime.as_str(), "image/gif" | "image/svg+xml");
    let itself = if is_itself { file(site, &metadata.content.uri) } else { None };
    let has_forms = itself.is_none() && !metadata.previews.is_empty();
    let source = itself.or_else(|| picture(site, metadata))?;
    let form = |preview: &Preview| format!("{} {}w", preview.url, preview.width);
    let set = has_forms.then(|| metadata.previews.iter().map(form).collect::<Vec<_>>().join(", "));
    let (known, color) =
        (metadata.placeholder.as_ref(), metadata.placeholder.as_ref().and_then(|it| it.color.as_ref()));
    let size = known.map(|known| (known.width, known.height));
    let pixels = size.is_some_and(|(width, height)| width.max(height) <= PIXELS);
    Some(html! {
        span .picture .small[size.is_some_and(|(width, _)| width <= SMALL)] .pixels[pixels] {
            @if let (Some(color), Some((width, height))) = (color, size) {
                svg viewBox=(format!("0 0 {width} {height}")) preserveAspectRatio=(place.alignment()) aria-hidden="true" {
                    rect width="100%" height="100%" fill=(color) {}
                }
            }
            img src=(source) srcset=[set] sizes=[has_forms.then(|| place.sizes())] alt=(alt) decoding="async"
                width=[size.map(|size| size.0)] height=[size.map(|size| size.1)]
                loading=[place.is_late().then_some("lazy")] fetchpriority=[place.is_first().then_some("high")];
        }
    })
}

/// Width up to which a picture isn't enlarged to the page's, in pixels.
const SMALL: u32 = 640;

/// Sides up to which a picture's pixels are meant to be seen.
const PIXELS: u32 = 128;

/// The work itself, with the controls that its kind needs.
pub fn work(site: &Site, title: &str, metadata: Option<&MetadataView>) -> Markup {
    let Some(metadata) = metadata else {
        return html! { div .absent { p { "The metadata of this moment has not been read yet." } } };
    };
    let content = file(site, &metadata.content.uri);
    let alt = if metadata.alt.is_empty() { title } else { &metadata.alt };
    let image = || image(site, metadata, alt, Place::Work);
    match (metadata.content_type(), content) {
        (Some(ContentType::Video), Some(source)) => html! { (film(site, alt, metadata, &source)) },
        (Some(ContentType::Audio), Some(source)) => html! {
            @if let Some(image) = image() { (image) }
            audio controls preload="none" src=(source) { (title) }
        },
        (Some(ContentType::Text), Some(source)) => html! {
            p .reading { a href=(source) { "Read “" (title) "”" } }
        },
        (kind, source) => match (image(), source) {
            (Some(image), _) if matches!(kind, Some(ContentType::Image) | None) => image,
            (image, Some(source)) => html! {
                @if let Some(image) = image { (image) }
                p .reading { a href=(source) { "Open the file (" (metadata.content.mime) ")" } }
            },
            (Some(image), None) => image,
            (None, None) => html! { div .absent { p { "This moment’s file is kept elsewhere." } } },
        },
    }
}

/// A file's type and size in words, with the way to it.
pub fn facts(site: &Site, metadata: &MetadataView) -> Markup {
    let content = &metadata.content;
    html! {
        @match file(site, &content.uri) {
            Some(file) => a href=(file) { (content.mime) },
            None => (content.mime),
        }
        @if let (Some(width), Some(height)) = (content.width, content.height) { ", " (width) " × " (height) }
        @if let Some(size) = content.size { ", " (bytes(size)) }
    }
}

/// `1.2 MB`
fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} bytes"),
        1_000..1_000_000 => format!("{} kB", (size + 500) / 1_000),
        _ => format!("{}.{} MB", size / 1_000_000, size % 1_000_000 / 100_000),
    }
}

fn film(site: &Site, alt: &str, metadata: &MetadataView, source: &str) -> Markup {
    let known = metadata.content.width.zip(metadata.content.height);
    let size = known.or_else(|| metadata.placeholder.as_ref().map(|poster| (poster.width, poster.height)));
    html! {
        video controls loop playsinline preload="metadata" poster=[picture(site, metadata)] src=(source)
            width=[size.map(|size| size.0)] height=[size.map(|size| size.1)] aria-label=(alt) { (alt) }
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
