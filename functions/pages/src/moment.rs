//! `/m/{chain}/{contract}/{token}`: a moment, its work first, and the same to be shown in a frame.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use shared::{
    api::read::{MomentView, Person, Site},
    chain::Chain,
    model::{Amount, ContentType, Subject, Transfer, line},
    store::chain::CommentPage,
};

use crate::{
    assets::icon,
    card::{name, person, title},
    collect::collect,
    comment,
    layout::{Frame, HeadPicture, NAME},
    media,
    report::report,
    share_card::{HEIGHT, WIDTH, card_address},
    text::clipped,
    words::{Clock, Offer, asked, short},
};

/// What a moment's page shows besides the moment.
#[derive(Debug)]
pub struct MomentParts<'a> {
    /// The moment's chain.
    pub chain: &'a Chain,
    /// The first page of its comments.
    pub comments: CommentPage,
    /// Who got tokens last, with names, and how many times tokens were got.
    pub collectors: Vec<(Transfer, Person)>,
    /// How many times tokens were got.
    pub collects: u64,
}

/// A moment's page.
pub fn moment_page(site: &Site, moment: &MomentView, parts: &MomentParts<'_>, clock: Clock) -> Frame {
    let title = title(moment);
    let offer = Offer::of_moment(moment, parts.chain, clock);
    let about = moment.metadata.as_ref().map(|metadata| metadata.description.trim()).unwrap_or_default();
    let content = html! {
        article .moment {
            div .work { (media::work(site, &title, moment.metadata.as_ref())) }
            div .label {
                h1 dir="auto" { (title) }
                p .by { "by " (person(site, &moment.creator)) " · " span .soft { (clock.show(&moment.created_at)) } }
                (offer_box(site, moment, &offer, clock))
                @if !about.is_empty() { p .about dir="auto" { (about) } }
                (share(&moment.page, &title))
                (facts(site, moment, parts))
            }
            section .talk aria-labelledby="comments" {
                h2 #comments { (comment::heading(moment.comments)) }
                @if parts.comments.comments.is_empty() { p .soft { "No one has said anything yet." } }
                @else { (comment::comments(site, &parts.comments.comments, clock)) }
                @if parts.comments.more { p .soft { "Older comments are in the API." } }
            }
            section .holders aria-labelledby="collectors" {
                h2 #collectors { (collected(parts.collects)) }
                @if parts.collectors.is_empty() { p .soft { "Be the first." } }
                @else {
                    ul .people {
                        @for (transfer, collector) in &parts.collectors {
                            li { (person(site, collector)) " " span .soft { (amount(transfer)) (clock.show_unix(transfer.transferred_at)) } }
                        }
                    }
                }
            }
        }
        (report(site, Subject::Moment(moment.place())))
    };
    Frame { content, ..frame(site, moment, &title, about, (parts.chain, &offer)) }
}

/// The work alone, with who made it and the way to the page.
pub fn embed_page(site: &Site, moment: &MomentView, chain: &Chain, clock: Clock) -> Frame {
    let title = title(moment);
    let offer = Offer::of_moment(moment, chain, clock);
    let content = html! {
        main .embed {
            div .work { (media::work(site, &title, moment.metadata.as_ref())) }
            div {
                h1 { a href=(moment.page) target="_blank" rel="noopener" dir="auto" { (title) } }
                " by " bdi { (name(&moment.creator)) }
                @if offer.is_open { " · " (offer.price) }
            }
        }
    };
    Frame { content, is_embedded: true, is_private: true, title, address: moment.page.clone(), ..Frame::default() }
}

fn frame(site: &Site, moment: &MomentView, title: &str, about: &str, (chain, offer): (&Chain, &Offer)) -> Frame {
    let by = name(&moment.creator);
    let picture = moment.metadata.as_ref().and_then(|metadata| media::picture(site, metadata));
    let said = if about.is_empty() { format!("A moment by {by}. {}", offer.price) } else { clipped(about, 200) };
    let card = card_address(site, moment, chain);
    let film = film_tags(site, moment);
    let miniapp = miniapp(site, moment, &card, offer);
    let oembed = |format| {
        site.page(&format!("/oembed?format={format}&url={}", utf8_percent_encode(&moment.page, NON_ALPHANUMERIC)))
    };
    Frame {
        title: format!("{title} by {by}"),
        description: said,
        address: moment.page.clone(),
        data: Some(data(site, moment, title, about, (picture.as_deref().unwrap_or(&card), chain, offer))),
        picture: Some(HeadPicture { address: card, alt: format!("{title} by {by}"), size: Some((WIDTH, HEIGHT)) }),
        kind: "article",
        alternates: vec![
            ("application/json", json_of(site, moment)),
            ("application/json+oembed", oembed("json")),
            ("text/xml+oembed", oembed("xml")),
        ],
        head: Some(html! { (film) meta name="fc:miniapp" content=(miniapp); }),
        ..Frame::default()
    }
}

/// Schema.org's words for it: <https://schema.org/VisualArtwork>.
fn data(
    site: &Site,
    moment: &MomentView,
    title: &str,
    about: &str,
    (picture, chain, offer): (&str, &Chain, &Offer),
) -> Value {
    let artist = site.artist(&moment.creator.username, moment.creator.address);
    let mut data = json!({
        "@context": "https://schema.org",
        "@type": "VisualArtwork",
        "name": title,
        "description": about,
        "url": moment.page,
        "image": picture,
        "dateCreated": moment.created_at,
        "creator": {"@type": "Person", "name": name(&moment.creator), "url": artist},
    });
    if let Some((price, symbol)) = moment.sale.as_ref().and_then(|sale| asked(sale, chain)) {
        let availability = match (moment.sold_out, offer.is_open) {
            (true, _) => "https://schema.org/SoldOut",
            (_, true) => "https://schema.org/InStock",
            (_, false) => "https://schema.org/OutOfStock",
        };
        data["offers"] = json!({
            "@type": "Offer", "url": moment.page, "price": price, "priceCurrency": symbol, "availability": availability,
        });
    }
    data
}

/// The film for messengers that play it, in the size that is known.
fn film_tags(site: &Site, moment: &MomentView) -> Markup {
    let metadata = moment.metadata.as_ref().filter(|it| it.content_type() == Some(ContentType::Video));
    let film = metadata.and_then(|metadata| Some((metadata, media::file(site, &metadata.content.uri)?)));
    html! {
        @if let Some((metadata, address)) = film {
            meta property="og:video" content=(address);
            meta property="og:video:type" content=(line(&metadata.content.mime));
            @if let (Some(width), Some(height)) = (metadata.content.width, metadata.content.height) {
                meta property="og:video:width" content=(width);
                meta property="og:video:height" content=(height);
            }
        }
    }
}

/// <https://miniapps.farcaster.xyz/docs/guides/sharing>
fn miniapp(site: &Site, moment: &MomentView, card: &str, offer: &Offer) -> String {
    let action = json!({"type": "launch_miniapp", "name": NAME, "url": moment.page, "splashImageUrl": icon(site)});
    let title = if offer.is_open { "Collect" } else { "Look" };
    json!({"version": "1", "imageUrl": card, "button": {"title": title, "action": action}}).to_string()
}

/// What is asked for, and a way to collect. One that isn't open yet is there and hidden: the script shows it in time,
/// in the place of a button that waits.
fn offer_box(site: &Site, moment: &MomentView, offer: &Offer, clock: Clock) -> Markup {
    let left = moment.supply.max.0.saturating_sub(moment.supply.minted.0);
    let is_limited = moment.supply.max != Amount(alloy::primitives::U256::from(u64::MAX));
    html! {
        div .offer {
            @if let Some(copy) = &moment.moved_to {
                p { "Moved: it goes on in " a href=(copy.page) { "another collection" } "." }
            }
            p { strong .price { (offer.price) } @if !offer.note.is_empty() && (offer.is_open || offer.opens.is_none()) { " " span .soft { (offer.note) } } }
            @if is_limited && !moment.sold_out { p .soft { (left) " of " (moment.supply.max) " left" } }
            @if let Some(opens) = offer.opens {
                p .opening role="status" data-opens=(opens) {
                    @if offer.is_open { "Opens to everybody " } @else { "Opens " }
                    (clock.until(opens))
                }
            }
            @if offer.is_open { (collect(site, moment, offer)) }
            @else if offer.opens.is_some() {
                button .waiting type="button" disabled { "Collect" }
                div .opened hidden { (collect(site, moment, offer)) }
            }
        }
    }
}

/// Works without script, as a link to copy; the script makes a button of it.
fn share(page: &str, title: &str) -> Markup {
    html! {
        p .share data-share=(page) data-title=(title) {
            label for="link" { "Link to this moment" }
            input #link type="url" readonly value=(page);
        }
    }
}

fn facts(site: &Site, moment: &MomentView, parts: &MomentParts<'_>) -> Markup {
    let collection =
        Some(line(&moment.collection.name)).filter(|name| !name.is_empty()).unwrap_or_else(|| short(moment.address));
    let is_open = moment.supply.max == Amount(alloy::primitives::U256::from(u64::MAX));
    html! {
        dl .facts {
            dt { "Collection" }
            dd { a href=(site.collection(moment.chain_id, moment.address)) dir="auto" { (collection) } ", no. " (moment.token_id) }
            dt { "Edition" }
            dd { (moment.supply.minted) @if is_open { " minted, open edition" } @else { " of " (moment.supply.max) " minted" } }
            @if let Some(metadata) = &moment.metadata {
                @if !metadata.content.mime.is_empty() { dt { "File" } dd { (media::facts(site, metadata)) } }
            }
            @if let Some(royalty) = moment.royalty.filter(|royalty| royalty.bps > 0) {
                dt { "Royalty on resale" }
                dd { (Amount(alloy::primitives::U256::from(royalty.bps)).decimal(2)) " %" }
            }
            dt { "Chain" }
            dd { (parts.chain.id) }
            dt { "Contract" }
            dd { code title=(moment.address) { (short(moment.address)) } }
            dt { "For programs" }
            dd { a href=(json_of(site, moment)) { "JSON" } }
        }
    }
}

fn json_of(site: &Site, moment: &MomentView) -> String {
    let (collection, token, chain) = (moment.address, moment.token_id, moment.chain_id);
    site.endpoint(&format!("/moment?collectionAddress={collection}&tokenId={token}&chainId={chain}"))
}

fn collected(times: u64) -> String {
    match times {
        0 => "Collected by".to_owned(),
        1 => "Collected once".to_owned(),
        times => format!("Collected {times} times"),
    }
}

fn amount(transfer: &Transfer) -> String {
    if transfer.quantity.0 == alloy::primitives::U256::ONE {
        String::new()
    } else {
        format!("{} · ", transfer.quantity)
    }
}
