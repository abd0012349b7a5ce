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
pub const MAPPED_MOMENTS: u32 = 500;

/// Seconds for which anyone may keep the site map, which costs more to make than a page.
const HOUR: u32 = 60 * 60;

/// `robots.txt` (RFC 9309).
pub fn robots(site: &Site) -> Response {
    answer::file("text/plain; charset=utf-8", &robots_text(site))
}

/// `sitemap.xml` (<https://www.sitemaps.org/protocol.html>) of moments, with their collections and their artists' accounts
/// and usernames.
pub fn sitemap(site: &Site, moments: &[MomentRef], artists: &BTreeSet<(Address, String)>) -> Response {
    answer::file("application/xml; charset=utf-8", &map(site, moments, artists)).cacheable(HOUR)
}

/// `security.txt` (RFC 9116), good for a month from `now`, in Unix seconds.
pub fn security(site: &Site, contact: &str, now: u64) -> Result<Response, ApiError> {
    Ok(answer::file("text/plain; charset=utf-8", &security_text(site, contact, now)?))
}

pub(crate) fn robots_text(site: &Site) -> String {
    format!("User-agent: *\nAllow: /\n\nSitemap: {}\n", site.page("/sitemap.xml"))
}

pub(crate) fn map(site: &Site, moments: &[MomentRef], artists: &BTreeSet<(Address, String)>) -> String {
    let collections: BTreeSet<(ChainId, Address)> =
        moments.iter().map(|place| (place.chain, place.collection)).collect();
    let pages = std::iter::once(site.page("/"))
        .chain(artists.iter().map(|(account, username)| site.artist(username, *account)))
        .chain(collections.iter().map(|(chain, collection)| site.collection(*chain, *collection)))
        .chain(moments.iter().map(|place| site.moment(place)));
    xml(&html! {
        urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" { @for page in pages { url { loc { (page) } } } }
    })
}

pub(crate) fn security_text(site: &Site, contact: &str, now: u64) -> Result<String, time::Error> {
    const MONTH: u64 = 30 * 24 * 60 * 60;
    let expires = clock::iso_8601(now.saturating_add(MONTH))?;
    let address = site.page("/.well-known/security.txt");
    Ok(format!("Contact: {contact}\nExpires: {expires}\nPreferred-Languages: en\nCanonical: {address}\n"))
}
