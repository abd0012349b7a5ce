//! Pages for people: each is made by one function, from the readers that the JSON has, and works without script.

mod answer;
mod artist;
mod assets;
mod card;
mod collection;
mod comment;
mod home;
mod layout;
mod media;
mod moment;
mod words;

pub use self::{
    answer::{not_found, page},
    artist::artist_page,
    assets::{Asset, asset},
    collection::collection_page,
    home::home_page,
    layout::Frame,
    moment::{MomentParts, embed_page, moment_page},
    words::Clock,
};
