//! What an operator sees of a subject: also of one that is hidden or removed.

use shared::{
    model::{Address, ChainId, Cid, MomentRef, Picture, Subject},
    store::{
        artist::KeptContent,
        chain::{Scope, TimelineFilter, TimelineStart},
    },
};
use url::form_urlencoded;

use super::super::{Desk, words::when};
use crate::Error;

/// Most works of a collection or an artist.
const WORKS: u32 = 12;

/// Longest beginning of a writing, in bytes.
const LONGEST: u64 = 4_000;

/// A subject.
#[derive(Debug, Default)]
pub(super) struct Exhibit {
    pub(super) title: String,
    pub(super) media: Vec<Medium>,
    pub(super) works: Vec<Work>,
    /// What it says.
    pub(super) words: String,
    pub(super) facts: Vec<(&'static str, String)>,
    /// Its page for people.
    pub(super) page: Option<String>,
    /// Whose it is.
    pub(super) artist: Option<Address>,
}

/// Something to look at or to hear, by its path on the desk's page.
#[derive(Debug)]
pub(super) enum Medium {
    Picture(String),
    Film(String),
    Sound(String),
    /// To be saved, not shown.
    Other(String),
}

/// A work among others.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) subject: Subject,
    pub(super) title: String,
    pub(super) picture: Option<String>,
}

/// Path of a picture's preview or, without one, of its file.
fn picture(uri: &str) -> Option<String> {
    let query = |uri: &str| form_urlencoded::Serializer::new(String::new()).append_pair("uri", uri).finish();
    (!uri.is_empty()).then(|| format!("picture?{}", query(uri)))
}

fn file(cid: Cid) -> String {
    format!("file/{cid}")
}

impl Desk {
    pub(super) async fn exhibit(&self, subject: &Subject) -> Result<Exhibit, Error> {
        let mut exhibit = match *subject {
            Subject::Moment(place) => self.moment(&place).await?,
            Subject::Collection(chain, address) => self.collection(chain, address).await?,
            Subject::Artist(account) => self.artist(account).await?,
            Subject::Comment(chain, comment) => match self.comments.find(chain, comment).await? {
                Some(comment) => Exhibit {
                    title: "A comment".to_owned(),
                    words: comment.comment,
                    facts: vec![("by", name(&comment.username, comment.sender))],
                    artist: Some(comment.sender),
                    ..Exhibit::default()
                },
                None => Exhibit::default(),
            },
            Subject::File(cid) => self.file(cid).await?,
        };
        if exhibit.title.is_empty() {
            exhibit.title = "Nothing here has this name".to_owned();
        }
        Ok(exhibit)
    }

    async fn moment(&self, place: &MomentRef) -> Result<Exhibit, Error> {
        let Some(moment) = self.moments.moment(place).await? else { return Ok(Exhibit::default()) };
        let (document, collection, by) = tokio::try_join!(
            self.document(place.chain, &moment.uri),
            async { Ok(self.moments.collection(place.chain, place.collection).await?) },
            self.name(moment.creator)
        )?;
        let collection = collection.map(|collection| collection.name).unwrap_or_default();
        let content = &document.content;
        let content_uri = if content.uri.is_empty() { &document.animation_url } else { &content.uri };
        let kept = Cid::in_uri(content_uri);
        let film = kept.and_then(|cid| match content.mime.split('/').next() {
            Some("video") => Some(Medium::Film(file(cid))),
            Some("audio") => Some(Medium::Sound(file(cid))),
            Some("image" | "text") => None,
            _ => Some(Medium::Other(file(cid))),
        });
        let still = picture(&document.image).filter(|_| !matches!(film, Some(Medium::Film(_))));
        let mut words = document.description;
        if let Some(cid) = kept.filter(|_| content.mime.starts_with("text/")) {
            words = format!("{words}\n\n{}", self.text(cid).await?).trim().to_owned();
        }
        Ok(Exhibit {
            title: title(&document.name, place),
            media: still.map(Medium::Picture).into_iter().chain(film).collect(),
            words,
            facts: vec![
                ("by", by),
                ("collection", collection),
                ("published", when(moment.created_at)?),
                ("collected", moment.minted.to_string()),
                ("document", moment.uri),
            ],
            page: self.page(&format!("/m/{}/{}/{}", place.chain, place.collection, place.token)),
            artist: Some(moment.creator),
            ..Exhibit::default()
        })
    }

    async fn collection(&self, chain: ChainId, address: Address) -> Result<Exhibit, Error> {
        let Some(collection) = self.moments.collection(chain, address).await? else { return Ok(Exhibit::default()) };
        let scopes = [(chain, Scope::Collection(address))];
        let (document, works, by) = tokio::try_join!(
            self.document(chain, &collection.uri),
            self.works(&scopes),
            self.name(collection.creator)
        )?;
        Ok(Exhibit {
            title: if collection.name.is_empty() { address.to_string() } else { collection.name },
            media: picture(&document.image).map(Medium::Picture).into_iter().collect(),
            works,
            words: document.description,
            facts: vec![("by", by), ("made", when(collection.created_at)?)],
            page: self.page(&format!("/c/{chain}/{address}")),
            artist: Some(collection.creator),
        })
    }

    async fn artist(&self, account: Address) -> Result<Exhibit, Error> {
        let profile = self.artists.profile_of(account).await?;
        let accounts = match &profile {
            Some(profile) => profile.wallets.iter().map(|wallet| wallet.address).collect(),
            None => vec![account],
        };
        let scopes: Vec<_> = (accounts.iter())
            .flat_map(|account| self.chains.iter().map(|chain| (chain.id, Scope::Made(*account))))
            .collect();
        let works = self.works(&scopes).await?;
        let page = self.page(&format!("/a/{account}"));
        let Some(profile) = profile else {
            return Ok(Exhibit { title: account.to_string(), works, page, ..Exhibit::default() });
        };
        let links: Vec<_> = profile.links.iter().map(ToString::to_string).collect();
        Ok(Exhibit {
            title: if profile.username.is_empty() { account.to_string() } else { profile.username },
            media: profile.avatar.and_then(|cid| picture(&cid.uri())).map(Medium::Picture).into_iter().collect(),
            works,
            words: profile.bio,
            facts: vec![
                ("joined", when(profile.created_at)?),
                ("links", links.join("  ")),
                ("account", account.to_string()),
            ],
            page,
            artist: Some(account),
        })
    }

    async fn file(&self, cid: Cid) -> Result<Exhibit, Error> {
        let (mime, size) = match self.media.content(cid).await? {
            Some(KeptContent::Stored(content)) => (content.mime, format!("{} bytes", content.size)),
            Some(KeptContent::Removed(_)) => (String::new(), "removed".to_owned()),
            None => {
                return Ok(Exhibit { title: format!("A file that isn’t kept here: {cid}"), ..Exhibit::default() });
            }
        };
        let kind = mime.split('/').next().unwrap_or_default().to_owned();
        Ok(Exhibit {
            title: "A file".to_owned(),
            media: match kind.as_str() {
                "video" => vec![Medium::Film(file(cid))],
                "audio" => vec![Medium::Sound(file(cid))],
                "text" => Vec::new(),
                // Of what is removed nobody says what it is.
                "image" | "" => picture(&cid.uri()).map(Medium::Picture).into_iter().collect(),
                _ => vec![Medium::Other(file(cid))],
            },
            words: if kind == "text" { self.text(cid).await? } else { String::new() },
            facts: vec![("type", mime), ("size", size)],
            ..Exhibit::default()
        })
    }

    /// The newest works of these, also what artists hid, but not what the operator decided about.
    async fn works(&self, scopes: &[(ChainId, Scope)]) -> Result<Vec<Work>, Error> {
        let filter = TimelineFilter { hidden: true, ..TimelineFilter::default() };
        let listed = self.timelines.newest_of(scopes, filter, 0, TimelineStart::Offset(0), WORKS).await?.moments;
        let works = listed.into_iter().map(async |listed| {
            let place = listed.place;
            let uri = self.moments.moment(&place).await?.map(|moment| moment.uri).unwrap_or_default();
            let document = self.document(place.chain, &uri).await?;
            let (title, picture) = (title(&document.name, &place), picture(&document.image));
            Ok(Work { subject: Subject::Moment(place), title, picture })
        });
        futures::future::try_join_all(works).await
    }

    async fn name(&self, account: Address) -> Result<String, Error> {
        let profile = self.artists.profile_of(account).await?;
        Ok(name(&profile.map(|profile| profile.username).unwrap_or_default(), account))
    }

    /// How a writing begins.
    async fn text(&self, cid: Cid) -> Result<String, Error> {
        for key in kept(&cid.object()) {
            if let Some(content) = self.bucket.read(&key, 0, Some(LONGEST)).await? {
                return Ok(String::from_utf8_lossy(&content.collect().await?.to_vec()).into_owned());
            }
        }
        Ok(String::new())
    }

    /// The key of the widest preview of the picture with this URI; without one, that of its file.
    pub(super) async fn picture(&self, uri: &str) -> Result<Option<String>, Error> {
        for previews in kept(&Picture::objects(&Picture::hash(uri))) {
            let keys = self.bucket.keys_under(&previews).await?;
            let width = |key: &String| key.rsplit('/').next().and_then(|width| width.parse::<u32>().ok());
            if let Some(widest) = keys.into_iter().max_by_key(width) {
                return Ok(Some(widest));
            }
        }
        Ok(Cid::in_uri(uri).map(Cid::object))
    }

    fn page(&self, path: &str) -> Option<String> {
        (!self.site.is_empty()).then(|| format!("{}{path}", self.site))
    }
}

/// Where an object is, whether it is removed or not.
pub(super) fn kept(object: &str) -> [String; 2] {
    [object.to_owned(), super::super::files::removed(object)]
}

fn title(name: &str, place: &MomentRef) -> String {
    if name.is_empty() { format!("Untitled #{}", place.token) } else { name.to_owned() }
}

fn name(username: &str, account: Address) -> String {
    if username.is_empty() { account.to_string() } else { format!("{username} ({account})") }
}
