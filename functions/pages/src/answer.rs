//! A page as an answer: its policy, how long it is kept, and errors as pages.

use maud::Markup;
use maud::html;
use shared::{
    api::read::Site,
    http::{ApiError, Response},
};

use crate::layout::Frame;

/// Seconds for which anyone may keep a page.
const SECONDS_TO_KEEP: u32 = 30;

/// 200 with a page, kept at the edge; without script of others, forms or anything from elsewhere. Only pages made for it are
/// shown in a frame of another site.
pub fn page(frame: Frame, site: &Site) -> Result<Response, ApiError> {
    let is_embedded = frame.is_embedded;
    html_answer(frame.render(site), site, is_embedded).map(|response| response.cacheable(SECONDS_TO_KEEP))
}

/// 200 with a page whose address is a secret: it is kept nowhere, and told to no other page.
pub fn secret_page(frame: Frame, site: &Site) -> Result<Response, ApiError> {
    html_answer(frame.render(site), site, false)?.with("referrer-policy", "no-referrer")
}

/// 200 with a file that is made anew each time, kept like a page.
pub(crate) fn file(content_type: &'static str, text: &str) -> Response {
    Response::file(content_type, text.as_bytes()).cacheable(SECONDS_TO_KEEP)
}

/// 404 with a page that leads on.
pub fn not_found(what: &str, site: &Site) -> Result<Response, ApiError> {
    notice(404, "There is nothing here", what, site)
}

/// 410 with the same.
pub fn gone(what: &str, site: &Site) -> Result<Response, ApiError> {
    notice(410, "This is over", what, site)
}

fn notice(status: u16, title: &str, what: &str, site: &Site) -> Result<Response, ApiError> {
    let content = html! {
        section .notice {
            h1 { (title) }
            p { (what) }
            p { a href=(site.page("/")) { "See the newest moments" } }
        }
    };
    let frame = Frame { title: title.to_owned(), is_private: true, content, ..Frame::default() };
    html_answer(frame.render(site), site, false)?.with_status(status)
}

fn html_answer(document: Markup, site: &Site, is_embedded: bool) -> Result<Response, ApiError> {
    let ancestors = if is_embedded { "*" } else { "'none'" };
    let files = site.files_source();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' {files}; media-src 'self' {files}; \
         connect-src 'self'; \
         base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}; require-trusted-types-for 'script'; \
         trusted-types 'none'"
    );
    Response::file("text/html; charset=utf-8", document.into_string().as_bytes())
        .with("content-security-policy", &policy)?
        .with("referrer-policy", "strict-origin-when-cross-origin")
}
