//! A moment in a list.

use maud::{Markup, html};
use shared::{
    api::read::{MomentView, Person, Site},
    chain::Chains,
    model::line,
};

use crate::{
    media::{self, Place},
    words::{Clock, Offer, short},
};

/// Moments as a grid; each keeps its picture's own proportions.
pub fn grid(site: &Site, chains: &Chains, moments: &[MomentView], clock: Clock) -> Markup {
    html! {
        ul .grid { @for (place, moment) in moments.iter().enumerate() { li { (card(site, chains, moment, place, clock)) } } }
    }
}

fn card(site: &Site, chains: &Chains, moment: &MomentView, place: usize, clock: Clock) -> Markup {
    let title = title(moment);
    let picture = moment.metadata.as_ref().and_then(|metadata| media::image(site, metadata, "", Place::List(place)));
    let offer = chains.get(moment.chain_id).ok();
    let offer = offer.map(|chain| Offer::of_moment(moment, chain, clock));
    html! {
        article .card {
            a .cover href=(moment.page) {
                @match picture {
                    Some(picture) => (picture),
                    None => span .blank aria-hidden="true" { (title.chars().next().unwrap_or('·')) },
                }
                h2 dir="auto" { (title) }
            }
            p .by { (person(site, &moment.creator)) }
            @if let Some(offer) = offer { p .price { (offer.price) } }
        }
    }
}

/// A moment's title, or the collection's with the token's number.
pub fn title(moment: &MomentView) -> String {
    let own = moment.metadata.as_ref().map(|metadata| line(&metadata.name)).filter(|name| !name.is_empty());
    let collection = line(&moment.collection.name);
    match own {
        Some(name) => name,
        None if collection.is_empty() => format!("Untitled #{}", moment.token_id),
        None => format!("{collection} #{}", moment.token_id),
    }
}

/// A person as a link to their page.
pub fn person(site: &Site, person: &Person) -> Markup {
    html! {
        a .person href=(site.artist(&person.username, person.address)) dir="auto" title=(person.address) { (name(person)) }
    }
}

/// A person's username, or the short form of their account.
pub fn name(person: &Person) -> String {
    Some(line(&person.username)).filter(|name| !name.is_empty()).unwrap_or_else(|| short(person.address))
}
