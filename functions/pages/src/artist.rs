//! `/@{username}` and `/a/{address}`: an artist and what they published.

use maud::{Markup, html};
use percent_encoding::percent_decode_str;
use serde_json::json;
use shared::{
    api::read::{Avatar, MomentView, Site},
    chain::Chains,
    model::{Address, ArtistName, Subject, WebUrl, line},
    store::artist::Profile,
};

use crate::{
    card::grid,
    format::feeds_of,
    layout::{Frame, HeadPicture},
    report::report,
    text::clipped,
    words::{Clock, counted, short},
};

/// An artist's page with their newest moments, of `total`; `next` is the number of the page of older ones. `profile` is
/// `None` for an account that is nobody's here.
pub fn artist_page(
    site: &Site,
    chains: &Chains,
    (account, profile): (Address, Option<&Profile>),
    (moments, total, next): (&[MomentView], u64, Option<u32>),
    clock: Clock,
) -> Frame {
    let username = profile.map(|profile| profile.username.as_str()).unwrap_or_default();
    let title = Some(line(username)).filter(|name| !name.is_empty()).unwrap_or_else(|| short(account));
    let bio = profile.map(|profile| profile.bio.trim()).unwrap_or_default();
    let address = site.artist(username, account);
    let avatar = profile.and_then(|profile| Avatar::of(profile, site));
    let content = html! {
        header .intro {
            @if let Some(avatar) = &avatar { (face(avatar)) }
            h1 dir="auto" { (title) }
            @if !bio.is_empty() { p .about dir="auto" { (bio) } }
            p .soft { code title=(account) { (short(account)) } " · " (counted(total, "moment")) }
            @if let Some(profile) = profile { (links(profile)) }
        }
        @if moments.is_empty() { p .empty { "Nothing published yet." } }
        @else { section aria-label="Moments" { (grid(site, chains, moments, clock)) } }
        @if let Some(next) = next { p .more { a href=(format!("{address}?page={next}")) { "Older moments" } } }
        (report(site, Subject::Artist(account)))
    };
    let picture = avatar.as_ref().and_then(|avatar| head_picture(avatar, &title));
    Frame {
        description: if bio.is_empty() {
            format!("{title} published {}.", counted(total, "moment"))
        } else {
            clipped(bio, 200)
        },
        data: Some(json!({
            "@context": "https://schema.org", "@type": "ProfilePage", "url": address,
            "mainEntity": {
                "@type": "Person", "name": title, "description": bio,
                "image": picture.as_ref().map(|picture| &picture.address),
                "sameAs": profile.map(|profile| &profile.links),
            },
        })),
        kind: "profile",
        picture,
        title,
        alternates: feeds_of(&address),
        address,
        content,
        ..Frame::default()
    }
}

/// The artist that a path's last segment names: `@` and a username, or an address.
pub fn artist_named(path: &str) -> Option<ArtistName> {
    let segment = percent_decode_str(path.rsplit('/').next()?).decode_utf8().ok()?;
    match segment.strip_prefix('@') {
        Some(name) => name.parse().ok().map(ArtistName::Username),
        None => segment.parse().ok().map(ArtistName::Account),
    }
}

/// The artist's picture in the forms that are made of it; whoever it shows is named beside it.
fn face(avatar: &Avatar) -> Markup {
    html! {
        @if let Some(preview) = avatar.previews.first() {
            img .face src=(preview.url) width="112" height="112" alt="";
        }
    }
}

fn head_picture(avatar: &Avatar, name: &str) -> Option<HeadPicture> {
    let largest = avatar.previews.last()?;
    let (address, alt) = (largest.url.clone(), format!("Picture of {name}"));
    Some(HeadPicture { address, alt, size: Some((largest.width, largest.height)) })
}

/// A link and its words: host, in the form that tells foreign letters apart, and path.
fn shown_link(link: &WebUrl) -> Option<(String, String)> {
    let url: url::Url = link.to_string().parse().ok()?;
    let words = format!("{}{}", url.host_str()?.trim_start_matches("www."), url.path().trim_end_matches('/'));
    Some((url.into(), clipped(&words, 60)))
}

/// Names at other services, which hold no other characters than their addresses may have.
fn links(profile: &Profile) -> Markup {
    let links = [
        ("Instagram", "https://www.instagram.com/", &profile.instagram_username),
        ("X", "https://x.com/", &profile.twitter_username),
        ("Telegram", "https://t.me/", &profile.telegram_username),
    ];
    html! {
        ul .links {
            @for link in profile.links.iter().filter_map(shown_link) {
                li { a href=(link.0) rel="me nofollow noopener" dir="ltr" { (link.1) } }
            }
            @for (service, host, name) in links.into_iter().filter(|(.., name)| !name.is_empty()) {
                li { a href=(format!("{host}{name}")) rel="me nofollow noopener" { (service) } }
            }
        }
    }
}
