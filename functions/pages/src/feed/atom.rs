use atom_syndication::{Content, Entry as AtomEntry, Error, Feed as AtomFeed, Link, Person, Text};
use maud::html;

use super::{Entry, Feed};
use crate::format::FeedFormat;

impl Feed {
    /// An Atom document (RFC 4287).
    pub(crate) fn atom(&self) -> Result<String, Error> {
        let feed = AtomFeed {
            title: Text::plain(self.title.clone()),
            subtitle: Some(self.about.clone()).filter(|about| !about.is_empty()).map(Text::plain),
            id: self.id.clone(),
            updated: self.updated().parse().unwrap_or_default(),
            links: vec![
                link("alternate", &self.page, "text/html"),
                link("self", &FeedFormat::Atom.address(&self.page), "application/atom+xml"),
            ],
            entries: self.entries.iter().map(Entry::atom).collect(),
            ..AtomFeed::default()
        };
        Ok(String::from_utf8_lossy(&feed.write_to(Vec::new())?).into_owned())
    }
}

impl Entry {
    fn atom(&self) -> AtomEntry {
        let (name, page) = self.author.clone();
        let file = self.file.iter().map(|(mime, address)| link("enclosure", address, mime));
        AtomEntry {
            title: Text::plain(self.title.clone()),
            id: self.page.clone(),
            published: self.published.parse().ok(),
            updated: self.updated.parse().unwrap_or_default(),
            authors: vec![Person { name, uri: Some(page), ..Person::default() }],
            links: std::iter::once(link("alternate", &self.page, "text/html")).chain(file).collect(),
            content: Some(Content {
                content_type: Some("html".to_owned()),
                value: Some(self.html()),
                ..Content::default()
            }),
            ..AtomEntry::default()
        }
    }

    fn html(&self) -> String {
        let content = html! {
            @if let Some(picture) = &self.picture { p { a href=(self.page) { img src=(picture) alt=(self.title); } } }
            @if !self.about.is_empty() { p dir="auto" { (self.about) } }
        };
        content.into_string()
    }
}

fn link(rel: &str, href: &str, kind: &str) -> Link {
    Link { rel: rel.to_owned(), href: href.to_owned(), mime_type: Some(kind.to_owned()), ..Link::default() }
}
