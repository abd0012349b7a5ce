//! oEmbed 1.0 (<https://oembed.com>): a moment's frame, for the sites on which its address is written.

use std::str::FromStr;

use maud::html;
use serde::Serialize;
use shared::{
    api::read::{MomentView, Site},
    http::{ApiError, FromFields, Response, Scalar},
    model::{ContentType, Invalid},
};

use crate::{
    answer,
    card::{name, title},
    layout::NAME,
    text::xml,
};

/// What a consumer asks for.
#[derive(Debug, FromFields)]
pub struct OembedQuery {
    /// Address of a page.
    pub url: PageUrl,
    /// JSON by default.
    pub format: Option<OembedFormat>,
    /// Most pixels.
    pub maxwidth: Option<Pixels>,
    /// Most pixels.
    pub maxheight: Option<Pixels>,
}

/// Any address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUrl(pub String);

/// A format of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OembedFormat {
    /// JSON.
    Json,
    /// XML.
    Xml,
    /// Any that isn't there.
    Other,
}

/// A length on the screen, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels(u32);

/// Size of the frame where it isn't limited: a square work with its label.
const SIZE: (u32, u32) = (600, 680);

/// A moment in a frame. Its kind is `video` or `rich`: one of a photo would need the picture's size.
#[derive(Debug, Serialize)]
pub(crate) struct Oembed {
    version: &'static str,
    r#type: &'static str,
    title: String,
    author_name: String,
    author_url: String,
    provider_name: &'static str,
    provider_url: String,
    html: String,
    width: u32,
    height: u32,
}

/// A moment's frame in the format and the size that were asked for; 501 for a format that isn't there.
pub fn oembed(site: &Site, moment: &MomentView, query: &OembedQuery) -> Result<Response, ApiError> {
    match Oembed::of(site, moment, query).document(query.format.unwrap_or(OembedFormat::Json))? {
        Some((content_type, text)) => Ok(answer::file(content_type, &text)),
        None => Response::file("text/plain; charset=utf-8", b"The formats are json and xml.").with_status(501),
    }
}

impl Oembed {
    pub(crate) fn of(site: &Site, moment: &MomentView, query: &OembedQuery) -> Self {
        let most = |own: u32, most: Option<Pixels>| most.map_or(own, |most| own.min(most.0));
        let (width, height) = (most(SIZE.0, query.maxwidth), most(SIZE.1, query.maxheight));
        let (title, frame) = (title(moment), site.embed(&moment.place()));
        let content_type = moment.metadata.as_ref().and_then(|metadata| metadata.content_type());
        let html = html! {
            iframe src=(frame) width=(width) height=(height) title=(title) loading="lazy" allowfullscreen
                style="border: 0" {}
        };
        Self {
            version: "1.0",
            r#type: if content_type == Some(ContentType::Video) { "video" } else { "rich" },
            title,
            author_name: name(&moment.creator),
            author_url: site.artist(&moment.creator.username, moment.creator.address),
            provider_name: NAME,
            provider_url: site.page("/"),
            html: html.into_string(),
            width,
            height,
        }
    }

    /// Media type and text; `None` for a format that isn't there.
    pub(crate) fn document(&self, format: OembedFormat) -> Result<Option<(&'static str, String)>, serde_json::Error> {
        Ok(match format {
            OembedFormat::Json => Some(("application/json; charset=utf-8", serde_json::to_string(self)?)),
            OembedFormat::Xml => Some(("text/xml; charset=utf-8", self.xml())),
            OembedFormat::Other => None,
        })
    }

    fn xml(&self) -> String {
        xml(&html! {
            oembed {
                version { (self.version) }
                type { (self.r#type) }
                title { (self.title) }
                author_name { (self.author_name) }
                author_url { (self.author_url) }
                provider_name { (self.provider_name) }
                provider_url { (self.provider_url) }
                html { (self.html) }
                width { (self.width) }
                height { (self.height) }
            }
        })
    }
}

impl Scalar for PageUrl {}

impl FromStr for PageUrl {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}

impl Scalar for OembedFormat {}

impl FromStr for OembedFormat {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(match text {
            "json" => Self::Json,
            "xml" => Self::Xml,
            _ => Self::Other,
        })
    }
}

impl Scalar for Pixels {}

impl FromStr for Pixels {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let pixels = text.parse().ok().filter(|pixels| *pixels > 0);
        pixels.map(Self).ok_or(Invalid("must be a whole number from 1 on"))
    }
}
