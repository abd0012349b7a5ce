use serde::Serialize;

use super::{Entry, Feed};
use crate::format::FeedFormat;

/// <https://www.jsonfeed.org/version/1.1/>.
#[derive(Serialize)]
struct JsonFeed<'a> {
    version: &'static str,
    title: &'a str,
    home_page_url: &'a str,
    feed_url: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    url: &'a str,
    title: &'a str,
    content_text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    date_published: &'a str,
    date_modified: &'a str,
    authors: [Author<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Attachment<'a>>,
}

#[derive(Serialize)]
struct Author<'a> {
    name: &'a str,
    url: &'a str,
}

#[derive(Serialize)]
struct Attachment<'a> {
    url: &'a str,
    mime_type: &'a str,
}

impl Feed {
    /// A JSON Feed.
    pub(crate) fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&JsonFeed {
            version: "https://jsonfeed.org/version/1.1",
            title: &self.title,
            home_page_url: &self.page,
            feed_url: FeedFormat::Json.address(&self.page),
            description: &self.about,
            items: self.entries.iter().map(Entry::item).collect(),
        })
    }
}

impl Entry {
    fn item(&self) -> Item<'_> {
        let (name, url) = (&self.author.0, &self.author.1);
        let attachments = self.file.iter().map(|(mime_type, url)| Attachment { url, mime_type });
        Item {
            id: &self.page,
            url: &self.page,
            title: &self.title,
            content_text: &self.about,
            image: self.picture.as_deref(),
            date_published: &self.published,
            date_modified: &self.updated,
            authors: [Author { name, url }],
            attachments: attachments.collect(),
        }
    }
}
