//! Pages for people: each is made by one function, from the readers that the JSON has, and works without script.

mod answer;
mod artist;
mod assets;
mod card;
mod collect;
mod collection;
mod comment;
mod crawler;
mod feed;
mod format;
mod home;
mod layout;
mod media;
mod moment;
mod oembed;
mod report;
mod share_card;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use self::{
    answer::{not_found, page},
    artist::{artist_named, artist_page},
    assets::{Asset, asset, icon},
    collection::collection_page,
    crawler::{MAPPED_MOMENTS, robots, security, sitemap},
    feed::Feed,
    format::FeedFormat,
    home::home_page,
    layout::Frame,
    moment::{MomentParts, embed_page, moment_page},
    oembed::{OembedQuery, oembed},
    share_card::{DrawError, ShareCard},
    words::Clock,
};
