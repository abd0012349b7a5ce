//! The newest moments of the service, an artist or a collection to subscribe to.

mod atom;
mod json;

use shared::{
    api::read::{CollectionView, MomentView, Site},
    http::{ApiError, Response},
    model::{Address, line, lines},
    store::artist::Profile,
};

use crate::{
    answer,
    card::{name, title},
    collection,
    format::FeedFormat,
    home::ABOUT,
    layout::NAME,
    media,
    words::short,
};

/// A list of moments with what it is called.
#[derive(Debug)]
pub struct Feed {
    title: String,
    about: String,
    /// Stays the same when an artist takes another name.
    id: String,
    page: String,
    entries: Vec<Entry>,
}

/// A moment in a feed; its page's address is its id.
#[derive(Debug)]
struct Entry {
    page: String,
    title: String,
    about: String,
    author: (String, String),
    published: String,
    updated: String,
    picture: Option<String>,
    /// Media type and address of the work.
    file: Option<(String, String)>,
}

impl Feed {
    /// The feed of the home page.
    pub fn of_everyone(site: &Site, moments: &[MomentView]) -> Self {
        Self::new(site, NAME, ABOUT, [site.page("/"), site.page("/")], moments)
    }

    /// An artist's feed; `profile` is `None` for an account that is nobody's here.
    pub fn of_artist(site: &Site, account: Address, profile: Option<&Profile>, moments: &[MomentView]) -> Self {
        let (username, bio) = profile.map_or(("", ""), |profile| (&profile.username, &profile.bio));
        let title = if username.is_empty() { short(account) } else { username.to_owned() };
        Self::new(site, &title, bio, [site.artist("", account), site.artist(username, account)], moments)
    }

    /// A collection's feed.
    pub fn of_collection(site: &Site, collection: &CollectionView, moments: &[MomentView]) -> Self {
        let about = collection.metadata.as_ref().map(|metadata| metadata.description.as_str()).unwrap_or_default();
        Self::new(
            site,
            &collection::title(collection),
            about,
            [collection.page.clone(), collection.page.clone()],
            moments,
        )
    }

    /// The feed as an answer, kept as long as a page.
    pub fn answer(&self, format: FeedFormat) -> Result<Response, ApiError> {
        let text = match format {
            FeedFormat::Atom => self.atom().map_err(ApiError::internal)?,
            FeedFormat::Json => self.json()?,
        };
        Ok(answer::file(format.content_type(), &text))
    }

    fn new(site: &Site, title: &str, about: &str, [id, page]: [String; 2], moments: &[MomentView]) -> Self {
        let entries = moments.iter().map(|moment| Entry::of(site, moment)).collect();
        Self { title: line(title), about: lines(about), id, page, entries }
    }

    /// When a moment of it changed last, in ISO 8601; the beginning of time while it is empty.
    fn updated(&self) -> &str {
        self.entries.iter().map(|entry| entry.updated.as_str()).max().unwrap_or("1970-01-01T00:00:00Z")
    }
}

impl Entry {
    fn of(site: &Site, moment: &MomentView) -> Self {
        let metadata = moment.metadata.as_ref();
        let file = metadata.and_then(|metadata| {
            let mime = Some(&metadata.content.mime).filter(|mime| is_media_type(mime))?;
            Some((mime.clone(), media::file(site, &metadata.content.uri)?))
        });
        Self {
            page: moment.page.clone(),
            title: title(moment),
            about: metadata.map(|metadata| lines(&metadata.description)).unwrap_or_default(),
            author: (name(&moment.creator), site.artist(&moment.creator.username, moment.creator.address)),
            published: moment.created_at.clone(),
            updated: moment.updated_at.clone(),
            picture: metadata.and_then(|metadata| media::picture(site, metadata)),
            file,
        }
    }
}

/// A type and a subtype (RFC 6838, 4.2), without parameters.
fn is_media_type(text: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_plain(kind) && is_plain(subtype))
}
