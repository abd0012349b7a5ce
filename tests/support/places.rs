//! Where people and programs see what artists made. Each place honours what the operator decides.

/// A place, and what can be read there.
pub struct Place {
    /// The operation in the API's document, or the route of a page.
    pub name: &'static str,
    /// Its address, with names in braces; a page's follows from the route if it is empty.
    pub path: &'static str,
    /// What of an artist's only moment is there.
    pub shows: &'static [Shown],
}

/// What can be read of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Its metadata's URI, or its page's address.
    Work,
    /// Its collection's name.
    Collection,
    /// Its artist's username.
    Artist,
    /// The text of a comment on it.
    Comment,
}

use Shown::{Artist, Collection, Comment, Work};

const fn at(name: &'static str, path: &'static str, shows: &'static [Shown]) -> Place {
    Place { name, path, shows }
}

/// All places.
pub const PLACES: &[Place] = &[
    at("readMoment", "/moment?collectionAddress={contract}&tokenId=1", &[Work, Collection, Artist]),
    at("listTimeline", "/timeline?collection={contract}&hidden=true", &[Work, Collection, Artist]),
    at("listTimeline", "/timeline?artist={address}&hidden=true", &[Work, Collection, Artist]),
    at("listCollections", "/collections?artist={address}", &[Collection, Artist]),
    at("readCollection", "/collections/eip155:8453/erc1155:{contract}", &[Collection, Artist]),
    at("readArtist", "/artists/{address}", &[Artist]),
    at("readArtist", "/artists/{username}", &[Artist]),
    at("searchArtists", "/artists/search?query={username}", &[Artist]),
    at("listComments", "/comments?collectionAddress={contract}&tokenId=1", &[Artist, Comment]),
    at("listTransfers", "/transfers?collection={contract}", &[Work, Collection, Artist]),
    at("listMomentCollectors", "/moment/collectors?collectionAddress={contract}&tokenId=1", &[Artist]),
    at("listPayments", "/payments?artist={address}", &[Work, Artist]),
    at("listNotifications", "/notifications?artist={address}", &[Work, Artist]),
    at("listCollectors", "/collectors?artist={address}", &[Artist]),
    at("listEvents", "/events?artist={address}&after={cursor}", &[Work, Collection, Comment]),
    at("GET /pages/m/{chain}/{contract}/{token}", "", &[Work, Collection, Artist, Comment]),
    at("GET /pages/embed/m/{chain}/{contract}/{token}", "", &[Work]),
    at("GET /pages/card/m/{chain}/{contract}/{card}", "", &[Work]),
    at("GET /pages/c/{chain}/{contract}", "", &[Work, Collection, Artist]),
    at("GET /pages/{artist}", "", &[Work, Artist]),
    at("GET /pages/a/{address}", "", &[Work, Artist]),
    at("GET /pages/c/{chain}/{contract}/{feed}", "", &[Work, Collection]),
    at("GET /pages/{artist}/{feed}", "", &[Work, Artist]),
    at("GET /pages/a/{address}/{feed}", "", &[Work, Artist]),
    at("GET /pages/oembed", "/oembed?url={root}/m/8453/{contract}/1", &[Work, Artist]),
];

/// What isn't among them, although it has words or is a page, and why.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("listApiKeys", "the artist's own"),
    ("listPasskeys", "the artist's own"),
    ("listUploads", "the artist's own"),
    ("readMe", "the artist's own"),
    ("readOwnArtist", "the artist's own"),
    ("listChains", "the operator's words"),
    ("waitForEvents", "listEvents's, for a credential"),
    ("GET /pages/claim/{link}", "readMoment's moment, for whoever has the link"),
    ("GET /pages/card/pay/{chain}/{account}", "an account's QR code: nobody's words"),
    ("GET /pages/home", "listTimeline's moments of everyone"),
    ("GET /pages/sitemap.xml", "listTimeline's moments of everyone"),
    ("GET /pages/feed.atom", "listTimeline's moments of everyone"),
    ("GET /pages/feed.json", "listTimeline's moments of everyone"),
    ("GET /pages/assets/{version}/{asset}", "the service's own file"),
    ("GET /pages/favicon.ico", "the service's own file"),
    ("GET /pages/robots.txt", "the service's own file"),
    ("GET /pages/.well-known/security.txt", "the service's own file"),
];

impl Place {
    /// Its address: the API's or, of a page, the host's, with these names filled in.
    pub fn url(&self, api: &str, names: &[(&str, &str)]) -> String {
        let root = api.trim_end_matches("/api");
        let path = match self.path {
            "" => self.name.trim_start_matches("GET /pages"),
            path => path,
        };
        let host = if self.name.starts_with("GET /pages") { root } else { api };
        let named = [("root", root), ("chain", "8453"), ("token", "1"), ("card", "1.png"), ("feed", "feed.json")];
        let names = named.iter().chain(names);
        names.fold(format!("{host}{path}"), |url, (name, value)| url.replace(&format!("{{{name}}}"), value))
    }
}
