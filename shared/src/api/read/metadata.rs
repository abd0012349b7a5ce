use serde::Serialize;
use utoipa::ToSchema;

use super::site::Site;
use crate::{
    model::{ContentType, Metadata, Picture},
    store::{across::LookupRows, chain::Documents},
};

/// The metadata document of a moment or collection; missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Metadata)]
pub struct MetadataView {
    /// Title, cut to 256 characters.
    pub name: String,
    /// URI of a picture.
    pub image: String,
    /// Text, cut to 2000 characters.
    pub description: String,
    /// File that the moment consists of.
    pub content: ContentView,
    /// Address of a page about it.
    pub external_url: String,
    /// URI of a film, sound or page.
    pub animation_url: String,
    /// What it shows, for people who can't see it: the trait `Alt text`, cut to 1000 characters.
    pub alt: String,
    /// Smaller forms of the picture, narrowest first; empty until they are made, and for a picture that can't be shown.
    #[schema(max_items = 3)]
    pub previews: Vec<Preview>,
    /// What is shown until the picture is there; null until it is made.
    #[schema(required = true)]
    pub placeholder: Option<Placeholder>,
}

/// The file that a moment consists of. Sizes are null while they aren't known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Content)]
pub struct ContentView {
    /// Media type, such as `image/png`.
    pub mime: String,
    /// URI of the file.
    pub uri: String,
    /// In pixels.
    #[schema(required = true)]
    pub width: Option<u32>,
    /// In pixels.
    #[schema(required = true)]
    pub height: Option<u32>,
    /// In bytes.
    #[schema(required = true)]
    pub size: Option<u64>,
    /// In milliseconds.
    #[schema(required = true)]
    pub duration: Option<u64>,
}

/// A smaller form of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Preview {
    /// URI of the whole picture.
    pub uri: String,
    /// Where the form is served.
    #[schema(format = "uri")]
    pub url: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Media type.
    #[schema(examples("image/webp"))]
    pub mime: &'static str,
}

/// What is shown until a picture is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Placeholder {
    /// ThumbHash (<https://evanw.github.io/thumbhash/>) in base64.
    #[schema(examples("1QcSHQRnh493V4dIh4eXh1h4kJUI"))]
    pub thumbhash: String,
    /// Average colour; null of a picture that one can see through.
    #[schema(required = true, examples("#7a8b9c"))]
    pub color: Option<String>,
    /// Width of the whole picture in pixels.
    pub width: u32,
    /// Height of the whole picture in pixels.
    pub height: u32,
}

impl MetadataView {
    /// The document at a URI with what is known of its files; `None` until it is fetched.
    pub(super) fn of(uri: &str, rows: &LookupRows, site: &Site) -> Option<Self> {
        let hash = Documents::uri_hash(uri);
        let Metadata { name, image, description, content, external_url, animation_url, alt } =
            rows.documents.get(&hash)?.clone();
        let found = rows.previews.get(&hash);
        let measures = found.map(|found| found.content).unwrap_or_default();
        let picture = found.and_then(|found| found.picture.as_ref());
        Some(Self {
            name,
            image,
            description,
            content: ContentView {
                mime: content.mime,
                uri: content.uri,
                width: measures.width,
                height: measures.height,
                size: measures.size,
                duration: measures.duration,
            },
            external_url,
            animation_url,
            alt,
            previews: picture.map(|picture| Preview::all(picture, site)).unwrap_or_default(),
            placeholder: picture.map(Placeholder::of),
        })
    }

    /// Kind of media of the content; `None` without a known media type.
    pub fn content_type(&self) -> Option<ContentType> {
        ContentType::of_media_type(&self.content.mime)
    }
}

impl Preview {
    pub(super) fn all(picture: &Picture, site: &Site) -> Vec<Self> {
        let hash = Picture::hash(&picture.uri);
        let form = |form: &crate::model::Form| Self {
            uri: picture.uri.clone(),
            url: site.file(&format!("/previews/{hash}/{}", form.width)),
            width: form.width,
            height: form.height,
            mime: Picture::MIME,
        };
        picture.forms.iter().map(form).collect()
    }
}

impl Placeholder {
    pub(super) fn of(picture: &Picture) -> Self {
        let Picture { placeholder, color, width, height, .. } = picture.clone();
        Self { thumbhash: placeholder, color, width, height }
    }
}
