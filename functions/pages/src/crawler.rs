//! Files that programs look for at a host's root: what may be read, which pages there are, whom to tell of a weakness.

use std::collections::BTreeSet;

use maud::html;
use shared::{
    api::read::Site,
    clock,
    http::{ApiError, Response},
    model::{Address, ChainId, MomentRef},
};

use crate::{answer, text::xml};

/// Moments in the site map: their pages link to all others.
pub const MAPPED_MOMENTS: u32 = 1_000;

/// `robots.txt` (RFC 9309).
pub fn robots(site: &Site) -> Response {
    let text = format!("User-agent: *\nAllow: /\n\nSitemap: {}\n", site.page("/sitemap.xml"));
    answer::file("text/plain; charset=utf-8", &text)
}

/// `sitemap.xml` (<https://www.sitemaps.org/protocol.html>) of moments, with their collections and their artists by account
/// and username.
pub fn sitemap(site: &Site, moments: &[MomentRef], artists: &BTreeSet<(Address, String)>) -> Response {
    let collections: BTreeSet<(ChainId, Address)> =
        moments.iter().map(|place| (place.chain, place.collection)).collect();
    let pages = std::iter::once(site.page("/"))
        .chain(artists.iter().map(|(account, username)| site.artist(username, *account)))
        .chain(collections.iter().map(|(chain, collection)| site.collection(*chain, *collection)))
        .chain(moments.iter().map(|place| site.moment(place)));
    let map = html! {
        urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" { @for page in pages { url { loc { (page) } } } }
    };
    answer::file("application/xml; charset=utf-8", &xml(&map))
}

/// `security.txt` (RFC 9116), good for a month from `now`, in Unix seconds.
pub fn security(site: &Site, contact: &str, now: u64) -> Result<Response, ApiError> {
    const MONTH: u64 = 30 * 24 * 60 * 60;
    let expires = clock::iso_8601(now.saturating_add(MONTH))?;
    let address = site.page("/.well-known/security.txt");
    let text = format!("Contact: {contact}\nExpires: {expires}\nPreferred-Languages: en\nCanonical: {address}\n");
    Ok(answer::file("text/plain; charset=utf-8", &text))
}
