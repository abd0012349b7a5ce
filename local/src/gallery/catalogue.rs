//! What the demo's artists publish: `local/demo/catalogue.json`.

use std::fs;

use serde::Deserialize;

use crate::{Error, paths::Paths};

/// Artists with their works, and who collects and says what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Catalogue {
    pub(super) artists: Vec<ArtistEntry>,
    pub(super) visits: Vec<Visit>,
    pub(super) conversations: Vec<Conversation>,
}

/// An artist with one collection.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArtistEntry {
    pub(super) email: String,
    pub(super) username: String,
    pub(super) bio: String,
    /// File of the artist's picture.
    pub(super) picture: String,
    pub(super) links: Vec<String>,
    pub(super) collection: CollectionEntry,
    pub(super) works: Vec<Work>,
}

/// A collection's metadata.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CollectionEntry {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) image: String,
}

/// A moment to publish.
#[derive(Debug, Deserialize)]
pub(super) struct Work {
    pub(super) title: String,
    #[serde(flatten)]
    pub(super) content: WorkContent,
    pub(super) sale: SaleEntry,
    /// Most tokens; without it, an open edition.
    pub(super) edition: Option<u64>,
}

/// What a moment consists of.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WorkContent {
    /// A file with a description. A sound has a cover.
    File { file: String, cover: Option<String>, description: String, alt: String },
    /// A writing.
    Text { text: String },
}

/// A price, and the time in which it holds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SaleEntry {
    pub(super) r#type: String,
    /// In the currency's smallest unit.
    pub(super) price: String,
    pub(super) starts_in_days: Option<u64>,
    #[serde(default)]
    pub(super) ends_after_collecting: bool,
}

/// An artist collects another's work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Visit {
    pub(super) by: String,
    pub(super) work: String,
    #[serde(default = "one")]
    pub(super) amount: u32,
    pub(super) comment: String,
}

/// A collector's comment, and an answer to it. Comments made by collecting can't be answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conversation {
    pub(super) work: String,
    pub(super) by: String,
    pub(super) comment: String,
    pub(super) answer: Reply,
}

/// An answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    pub(super) by: String,
    pub(super) text: String,
}

fn one() -> u32 {
    1
}

impl Catalogue {
    pub(super) fn load(paths: &Paths) -> Result<Self, Error> {
        let file = paths.demo().join("catalogue.json");
        let text = fs::read_to_string(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{} is wrong: {error}", file.display()).into())
    }
}

/// A file of a work.
#[derive(Clone, Debug)]
pub(crate) struct WorkFile {
    pub(crate) mime: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl WorkFile {
    pub(crate) fn read(paths: &Paths, name: &str) -> Result<Self, Error> {
        let mime = match name.rsplit_once('.') {
            Some((_, "png")) => "image/png",
            Some((_, "gif")) => "image/gif",
            Some((_, "wav")) => "audio/wav",
            _ => return Err(format!("the type of {name} is unknown").into()),
        };
        let file = paths.demo().join("works").join(name);
        let bytes = fs::read(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        Ok(Self { mime, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_names_only_what_it_has() -> Result<(), Error> {
        let paths = Paths::of_checkout();
        let Catalogue { artists, visits, conversations } = Catalogue::load(&paths)?;
        let works: Vec<_> = artists.iter().flat_map(|artist| &artist.works).collect();
        for work in &works {
            if let WorkContent::File { file, cover, description, alt } = &work.content {
                for file in std::iter::once(file).chain(cover) {
                    WorkFile::read(&paths, file)?;
                }
                assert!(!description.is_empty() && !alt.is_empty(), "{} isn't described", work.title);
            }
        }
        let is_artist = |name: &str| artists.iter().any(|artist| artist.username == name);
        let is_work = |title: &str| works.iter().filter(|work| work.title == title).count() == 1;
        for visit in &visits {
            assert!(is_artist(&visit.by) && is_work(&visit.work), "{visit:?}");
        }
        for talk in &conversations {
            let has_collected = visits.iter().any(|visit| (&visit.work, &visit.by) == (&talk.work, &talk.by));
            assert!(has_collected && is_artist(&talk.answer.by), "{talk:?}");
        }
        for artist in &artists {
            WorkFile::read(&paths, &artist.collection.image)?;
            WorkFile::read(&paths, &artist.picture)?;
        }
        Ok(())
    }
}
