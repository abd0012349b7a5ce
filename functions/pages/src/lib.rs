//! Pages for people: each is made by one function, from the readers that the JSON has, and works without script.

mod answer;
mod artist;
mod assets;
mod card;
mod claim;
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
mod qr_code;
mod report;
mod share_card;
mod sign_in;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub use self::{
    answer::{gone, not_found, page, secret_page},
    artist::{artist_named, artist_page},
    assets::{Asset, asset, icon},
    claim::claim_page,
    collection::collection_page,
    crawler::{MAPPED_MOMENTS, robots, security, sitemap},
    feed::Feed,
    format::FeedFormat,
    home::home_page,
    layout::Frame,
    moment::{MomentParts, embed_page, moment_page},
    oembed::{OembedQuery, oembed},
    qr_code::qr_code,
    share_card::{DrawError, ShareCard},
    words::Clock,
};
