//! Addresses of the pages for people, and of the files that they show.

use url::Url;

use crate::{
    config,
    model::{Address, ChainId, MomentRef},
};

/// Where people find the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The host, such as `https://moments.example`; empty if no address is configured, so that links stay on theirs.
    host: String,
    /// Path before those of pages; empty where the host's root shows them.
    pages: String,
    /// Path of the API.
    api: String,
    /// The files' host; empty where the API serves them.
    files: String,
}

impl Site {
    /// Reads `TOKEN_ISSUER`, the API's base URL, `PAGES_PATH`, the path on its host under which pages are (the API's own
    /// `/pages` by default), and `FILES_ADDRESS`.
    pub fn from_env() -> Self {
        let base = config::optional(config::variables::TOKEN_ISSUER)
            .and_then(|issuer| issuer.parse().ok())
            .filter(Url::has_host);
        let api = base.as_ref().map_or("/api", |base| base.path().trim_end_matches('/')).to_owned();
        let host = base.map(|base| base.origin().ascii_serialization()).unwrap_or_default();
        let pages = config::optional(config::variables::PAGES_PATH).unwrap_or_else(|| format!("{api}/pages"));
        let files = config::optional(config::variables::FILES_ADDRESS).unwrap_or_default();
        Self { host, pages: pages.trim_end_matches('/').to_owned(), api, files }
    }

    /// Address of a page or a part of one; `path` begins with a slash.
    pub fn page(&self, path: &str) -> String {
        format!("{}{}{path}", self.host, self.pages)
    }

    /// Address of an endpoint; `path` begins with a slash.
    pub fn endpoint(&self, path: &str) -> String {
        format!("{}{}{path}", self.host, self.api)
    }

    /// Address of an artist's file or of a preview; `path` begins with a slash.
    pub fn file(&self, path: &str) -> String {
        match self.files.as_str() {
            "" => self.endpoint(path),
            files => format!("{files}{path}"),
        }
    }

    /// Where browsers may load files from, for a content security policy.
    pub fn files_source(&self) -> &str {
        &self.files
    }

    /// A moment's page.
    pub fn moment(&self, place: &MomentRef) -> String {
        self.page(&format!("/m/{}/{}/{}", place.chain, place.collection, place.token))
    }

    /// A moment in a frame for other sites.
    pub fn embed(&self, place: &MomentRef) -> String {
        self.page(&format!("/embed/m/{}/{}/{}", place.chain, place.collection, place.token))
    }

    /// The moment whose page or frame has this address; `None` for an address of another site or page.
    pub fn moment_at(&self, address: &str) -> Option<MomentRef> {
        let address = address.split(['?', '#']).next()?;
        let path = address.strip_prefix(&self.page("/"))?;
        let place = path.strip_prefix("embed/").unwrap_or(path).strip_prefix("m/")?;
        let mut parts = place.trim_end_matches('/').split('/');
        let place = MomentRef {
            chain: parts.next()?.parse().ok()?,
            collection: parts.next()?.parse().ok()?,
            token: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }

    /// A collection's page.
    pub fn collection(&self, chain: ChainId, collection: Address) -> String {
        self.page(&format!("/c/{chain}/{collection}"))
    }

    /// QR code of a payment to an account, an SVG; `amount` and more can be added to its query.
    pub fn payment_code(&self, chain: ChainId, account: Address, currency: &str) -> String {
        self.page(&format!("/card/pay/{chain}/{account}?currency={currency}"))
    }

    /// An artist's page, by username or, without one, by account.
    pub fn artist(&self, username: &str, account: Address) -> String {
        match username {
            "" => self.page(&format!("/a/{account}")),
            name => self.page(&format!("/@{}", percent_encoding::utf8_percent_encode(name, SEGMENT))),
        }
    }
}

/// What isn't kept in a path's segment: letters of names can be outside of ASCII, their marks are unreserved.
const SEGMENT: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_found_by_their_own_addresses_alone() {
        let site = Site {
            host: "https://a.example".to_owned(),
            pages: String::new(),
            api: "/api".to_owned(),
            files: String::new(),
        };
        let contract = "0x540c18b7f99b3b599c6feb99964498931c211858";
        let found = site.moment_at(&format!("https://a.example/m/8453/{contract}/7?from=feed#top"));
        let place = found.expect("a moment");
        assert_eq!(site.moment_at(&site.moment(&place)), Some(place));
        assert_eq!(site.moment_at(&site.embed(&place)), Some(place));
        for address in [
            format!("https://a.example.evil.example/m/8453/{contract}/7"),
            format!("https://a.example@evil.example/m/8453/{contract}/7"),
            format!("http://a.example/m/8453/{contract}/7"),
            format!("https://a.example/m/8453/{contract}/7/8"),
            format!("https://a.example/m/8453/{contract}"),
            format!("https://a.example/c/8453/{contract}"),
            String::new(),
        ] {
            assert_eq!(site.moment_at(&address), None, "{address}");
        }
    }
}
