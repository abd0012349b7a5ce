//! `/claim/{token}`: what somebody gives away, to be claimed in three taps, and the code to print that leads there.

use maud::{Markup, html};
use qrcode::types::QrError;
use shared::{
    api::read::{MomentView, Site},
    model::{ChainId, ClaimToken},
    store::artist::ClaimLink,
};

use crate::{
    card::{name, person, title},
    layout::Frame,
    media,
    qr_code::qr_code,
    sign_in,
    words::Clock,
};

/// The page of a link that isn't over.
pub fn claim_page(
    site: &Site,
    token: &ClaimToken,
    link: &ClaimLink,
    moment: &MomentView,
    clock: Clock,
) -> Result<Frame, QrError> {
    let title = title(moment);
    let address = site.page(&format!("/claim/{}", token.reveal()));
    let code = qr_code(&address, "QR code of this page")?;
    let content = html! {
        article .moment .gift {
            div .work { (media::work(site, &title, moment.metadata.as_ref())) }
            div .label {
                h1 dir="auto" { (title) }
                p .by { "by " (person(site, &moment.creator)) }
                p { (offer(link)) " " span .soft { "Until " (clock.show_unix(link.until)) "." } }
                (forms(site, token, moment.chain_id, link.left() > 0))
                p .done hidden { strong { "It is yours. " } a href=(moment.page) { "Look at it" } }
                noscript { p { "To claim it, let your browser run scripts on this page." } }
                details .print {
                    summary { "Code to print" }
                    (code)
                    p .soft { "A phone’s camera opens this page. Whoever has the code may claim." }
                }
            }
        }
    };
    let by = name(&moment.creator);
    Ok(Frame { title: format!("A gift: {title} by {by}"), is_private: true, content, ..Frame::default() })
}

fn offer(link: &ClaimLink) -> String {
    match (link.left(), link.count) {
        (0, _) => "All of it is claimed. If you have one, sign in to see it.".to_owned(),
        (_, 1) => "A gift: the only one of this link. It costs you nothing.".to_owned(),
        (left, count) => format!("A gift: {left} of {count} are left. It costs you nothing."),
    }
}

/// The button, and the forms that take its place: an address, and the code that is mailed to it.
fn forms(site: &Site, token: &ClaimToken, chain: ChainId, is_left: bool) -> Markup {
    html! {
        div .claim hidden data-api=(site.endpoint("")) data-token=(token.reveal()) data-chain=(chain) {
            form { button type="submit" { @if is_left { "Claim" } @else { "Sign in" } } }
            (sign_in::forms(false, "You get an account that keeps what you claim.", "Claim it"))
            p .note role="status" {}
        }
    }
}
