//! What all pages have: the head, the way home, and the foot.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use shared::api::read::Site;

use crate::assets;

/// A page around its content.
#[derive(Debug, Default)]
pub struct Frame {
    /// Title of the page; the service's name is added.
    pub title: String,
    /// One or two sentences for messengers and search engines.
    pub description: String,
    /// Canonical address.
    pub address: String,
    /// What messengers show.
    pub picture: Option<HeadPicture>,
    /// Open Graph's type, `website` by default.
    pub kind: &'static str,
    /// JSON-LD of what the page shows.
    pub data: Option<Value>,
    /// Addresses of feeds and of other forms of the page: media type and address.
    pub alternates: Vec<(&'static str, String)>,
    /// Further tags of the head.
    pub head: Option<Markup>,
    /// Whether search engines are asked to leave it out.
    pub is_private: bool,
    /// Whether it is framed by other sites: no header, no footer.
    pub is_embedded: bool,
    /// What the page is about.
    pub content: Markup,
}

/// A picture for messengers.
#[derive(Clone, Debug)]
pub struct HeadPicture {
    /// Its address.
    pub address: String,
    /// What it shows.
    pub alt: String,
    /// Width and height in pixels, if they are known.
    pub size: Option<(u32, u32)>,
}

/// The site's name.
pub const NAME: &str = "Moments";

impl Frame {
    /// The whole document.
    pub fn render(self, site: &Site) -> Markup {
        let title = if self.title.is_empty() { NAME.to_owned() } else { format!("{} · {NAME}", self.title) };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) }
                    @if !self.description.is_empty() { meta name="description" content=(self.description); }
                    @if self.is_private { meta name="robots" content="noindex"; }
                    meta name="color-scheme" content="light dark";
                    link rel="stylesheet" href=(assets::address(site, "style.css"));
                    link rel="icon" type="image/svg+xml" href=(assets::address(site, "icon.svg"));
                    @if !self.address.is_empty() { link rel="canonical" href=(self.address); }
                    @for (kind, address) in &self.alternates { link rel="alternate" type=(kind) href=(address); }
                    @if !self.is_private { (self.open_graph()) }
                    @if let Some(head) = &self.head { (head) }
                    @if let Some(data) = &self.data { script type="application/ld+json" { (PreEscaped(json_in_html(data))) } }
                    script src=(assets::address(site, "script.js")) defer {}
                }
                @if self.is_embedded { body .embedded { (self.content) } }
                @else {
                    body {
                        a .skip href="#content" { "Skip to the content" }
                        header .bar {
                            a .wordmark href=(site.page("/")) { (mark()) (NAME) }
                            nav aria-label="Site" { a href=(site.endpoint("/manage")) { "Publish" } }
                        }
                        main #content { (self.content) }
                        footer .foot {
                            a href=(site.page("/")) { "Newest moments" }
                            a href=(site.endpoint("/manage")) { "For artists" }
                            a href=(site.endpoint("/docs")) { "For developers" }
                        }
                    }
                }
            }
        }
    }

    fn open_graph(&self) -> Markup {
        html! {
            meta property="og:site_name" content=(NAME);
            meta property="og:type" content=(if self.kind.is_empty() { "website" } else { self.kind });
            meta property="og:title" content=(if self.title.is_empty() { NAME } else { &self.title });
            meta property="og:description" content=(self.description);
            @if !self.address.is_empty() { meta property="og:url" content=(self.address); }
            @if let Some(HeadPicture { address, alt, size }) = &self.picture {
                meta property="og:image" content=(address);
                meta property="og:image:alt" content=(alt);
                @if let Some((width, height)) = size {
                    meta property="og:image:width" content=(width);
                    meta property="og:image:height" content=(height);
                }
            }
            meta name="twitter:card" content=(if self.picture.is_some() { "summary_large_image" } else { "summary" });
        }
    }
}

/// The service's mark, as in its icon.
fn mark() -> Markup {
    html! { svg .mark viewBox="0 0 24 24" aria-hidden="true" { circle cx="12" cy="12" r="9" {} path d="M12 7v5l3 3" {} } }
}

/// JSON for a script element: `<` can't end it, and no line separator ends a line of script.
fn json_in_html(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_strangers_stay_text() {
        let evil = "\"><script>alert(1)</script>";
        let frame = Frame {
            title: evil.to_owned(),
            description: evil.to_owned(),
            data: Some(json!({"name": "</script><script>alert(1)</script>"})),
            content: html! { p { (evil) } },
            ..Frame::default()
        };
        let page = frame.render(&Site::from_env()).into_string();
        assert!(!page.contains("<script>alert"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
    }
}
