//! `/c/{chain}/{contract}`: a collection and its moments.

use maud::html;
use shared::{
    api::read::{CollectionView, MomentView, Site},
    chain::Chains,
    model::{Subject, line},
};

use crate::{
    card::{grid, name, person},
    format::feeds_of,
    layout::{Frame, HeadPicture},
    media,
    report::report,
    text::clipped,
    words::{Clock, counted, short},
};

/// A collection's page with its newest moments, of `total`; `next` is the number of the page of older ones.
pub fn collection_page(
    site: &Site,
    chains: &Chains,
    collection: &CollectionView,
    (moments, total, next): (&[MomentView], u64, Option<u32>),
    clock: Clock,
) -> Frame {
    let title = title(collection);
    let about = collection.metadata.as_ref().map(|metadata| metadata.description.trim()).unwrap_or_default();
    let picture = collection.metadata.as_ref().and_then(|metadata| media::picture(site, metadata));
    let content = html! {
        header .intro {
            h1 dir="auto" { (title) }
            p .by { "by " (person(site, &collection.creator)) " · " span .soft { (counted(total, "moment")) } }
            @if !about.is_empty() { p .about dir="auto" { (about) } }
        }
        @if moments.is_empty() { p .empty { "Nothing has been published in this collection yet." } }
        @else { section aria-label="Moments" { (grid(site, chains, moments, clock)) } }
        @if let Some(next) = next { p .more { a href=(format!("{}?page={next}", collection.page)) { "Older moments" } } }
        (report(site, Subject::Collection(collection.chain_id, collection.address)))
    };
    Frame {
        description: if about.is_empty() {
            format!("A collection by {}: {}.", name(&collection.creator), counted(total, "moment"))
        } else {
            clipped(about, 200)
        },
        address: collection.page.clone(),
        alternates: feeds_of(&collection.page),
        picture: picture.map(|address| HeadPicture { address, alt: title.clone(), size: None }),
        title,
        content,
        ..Frame::default()
    }
}

/// A collection's name, or the short form of its contract.
pub fn title(collection: &CollectionView) -> String {
    Some(line(&collection.name)).filter(|name| !name.is_empty()).unwrap_or_else(|| short(collection.address))
}
