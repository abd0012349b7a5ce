//! `/`: the newest moments of artists who have a name here.

use maud::html;
use shared::{
    api::read::{MomentView, Site},
    chain::Chains,
};

use crate::{card::grid, format::feeds_of, layout::Frame, words::Clock};

/// What is here.
pub const ABOUT: &str = "Pictures, films, sounds and texts that artists publish onchain.";

/// The home page; `next` is the number of the page of older moments.
pub fn home_page(site: &Site, chains: &Chains, moments: &[MomentView], next: Option<u32>, clock: Clock) -> Frame {
    let content = html! {
        section .intro {
            h1 { "Moments" }
            p { "Pictures, films, sounds and texts that artists publish onchain, for anyone to look at and collect." }
        }
        @if moments.is_empty() {
            p .empty { "Nothing has been published yet. " a href=(site.endpoint("/manage")) { "Publish the first moment" } }
        } @else {
            section aria-label="Newest moments" { (grid(site, chains, moments, clock)) }
        }
        @if let Some(next) = next { p .more { a href=(site.page(&format!("/?page={next}"))) { "Older moments" } } }
    };
    Frame {
        description: ABOUT.to_owned(),
        address: site.page("/"),
        alternates: feeds_of(&site.page("/")),
        content,
        ..Frame::default()
    }
}
