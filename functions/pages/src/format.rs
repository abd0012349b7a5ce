//! The formats of feeds, and their places under the pages that they follow.

/// The form of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedFormat {
    /// RFC 4287.
    Atom,
    /// <https://www.jsonfeed.org/version/1.1/>.
    Json,
}

impl FeedFormat {
    /// The format that a file's name stands for.
    pub fn of_file(name: &str) -> Option<Self> {
        [Self::Atom, Self::Json].into_iter().find(|format| format.file() == name)
    }

    fn file(self) -> &'static str {
        match self {
            Self::Atom => "feed.atom",
            Self::Json => "feed.json",
        }
    }

    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::Json => "application/feed+json; charset=utf-8",
        }
    }

    /// Address of the feed of a page.
    pub fn address(self, page: &str) -> String {
        format!("{}/{}", page.trim_end_matches('/'), self.file())
    }
}

/// Links to the feeds of a page, for its head.
pub fn feeds_of(page: &str) -> Vec<(&'static str, String)> {
    let link = |kind, format: FeedFormat| (kind, format.address(page));
    vec![link("application/atom+xml", FeedFormat::Atom), link("application/feed+json", FeedFormat::Json)]
}
