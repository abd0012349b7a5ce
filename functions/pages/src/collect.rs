//! "Collect" on a moment's page: a link to the studio, which the script makes a form for those who sign in by mail.

use alloy::primitives::U256;
use maud::{Markup, html};
use serde_json::{Value, json};
use shared::{
    api::read::{MomentView, Site},
    model::{Amount, SaleType, SaleView},
};

use crate::{sign_in, words::Offer};

/// Most of the protocol's fee, in the smallest unit of the chain's currency: above it, nothing is bought.
const MOST_FEE: u64 = 1_000_000_000_000_000;

/// The button, and the forms that take its place: an address, the code that is mailed to it, and the order.
pub fn collect(site: &Site, moment: &MomentView, offer: &Offer) -> Markup {
    let most = moment.sale.as_ref().map(most);
    let is_listed = moment.allow_list.is_some();
    html! {
        a .button href=(site.endpoint("/manage")) { "Collect" }
        div .collect hidden data-api=(site.endpoint("")) data-moment=(place(moment)) data-most=[most] data-fee=[is_listed.then_some(MOST_FEE)] {
            (sign_in::forms(true, "You get an account that keeps what you collect.", "Sign in"))
            form hidden {
                p { "Your account " code {} " pays." }
                p .said-with {
                    label for="comment" { "Say something with it, if you like" }
                    input #comment name="comment" maxlength="1000" dir="auto";
                }
                button type="submit" { "Collect: " (offer.price) }
            }
            (deposit())
            p .note role="status" {}
        }
    }
}

/// What the account lacks, and where to send it, which the script fills in.
fn deposit() -> Markup {
    html! {
        div .deposit hidden {
            p { "Your account lacks " strong {} ". Send it there; once it has arrived, you can go on here." }
        }
    }
}

/// A moment as requests name it.
pub fn place(moment: &MomentView) -> Value {
    json!({"collectionAddress": moment.address, "tokenId": moment.token_id, "chainId": moment.chain_id})
}

/// What the page says it costs, with room for the protocol's fee where that is paid in the same currency.
fn most(sale: &SaleView) -> Amount {
    let fee = if sale.r#type == SaleType::Erc20 { U256::ZERO } else { U256::from(MOST_FEE) };
    Amount(sale.price_per_token.0.saturating_add(fee))
}
