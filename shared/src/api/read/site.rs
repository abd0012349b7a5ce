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
}

impl Site {
    /// Reads `TOKEN_ISSUER`, the API's base URL, and `PAGES_PATH`, the path on its host under which pages are (the API's
    /// own `/pages` by default).
    pub fn from_env() -> Self {
        let base = config::optional("TOKEN_ISSUER").and_then(|issuer| issuer.parse().ok()).filter(Url::has_host);
        let api = base.as_ref().map_or("/api", |base| base.path().trim_end_matches('/')).to_owned();
        let host = base.map(|base| base.origin().ascii_serialization()).unwrap_or_default();
        let pages = config::optional("PAGES_PATH").unwrap_or_else(|| format!("{api}/pages"));
        Self { host, pages: pages.trim_end_matches('/').to_owned(), api }
    }

    /// Address of a page or a part of one; `path` begins with a slash.
    pub fn page(&self, path: &str) -> String {
        format!("{}{}{path}", self.host, self.pages)
    }

    /// Address of an endpoint; `path` begins with a slash.
    pub fn endpoint(&self, path: &str) -> String {
        format!("{}{}{path}", self.host, self.api)
    }

    /// A moment's page.
    pub fn moment(&self, place: &MomentRef) -> String {
        self.page(&format!("/m/{}/{}/{}", place.chain, place.collection, place.token))
    }

    /// A collection's page.
    pub fn collection(&self, chain: ChainId, collection: Address) -> String {
        self.page(&format!("/c/{chain}/{collection}"))
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
