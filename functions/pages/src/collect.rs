//! "Collect" on a moment's page: a link to the studio, which the script makes a form for those who sign in by mail.

use alloy::primitives::U256;
use maud::{Markup, html};
use serde_json::{Value, json};
use shared::{
    api::read::{MomentView, Site},
    model::{Amount, SaleType, SaleView},
};

use crate::words::Offer;

/// Most of the protocol's fee, in the smallest unit of the chain's currency: above it, nothing is bought.
const MOST_FEE: u64 = 1_000_000_000_000_000;

/// The button, and the forms that take its place: an address, the code that is mailed to it, and the order.
pub fn collect(site: &Site, moment: &MomentView, sale: &SaleView, offer: &Offer) -> Markup {
    html! {
        a .button href=(site.endpoint("/manage")) { "Collect" }
        div .collect hidden data-api=(site.endpoint("")) data-moment=(place(moment)) data-most=(most(sale)) {
            form {
                label for="email" { "E-mail address" }
                input #email type="email" name="email" autocomplete="email" required;
                button type="submit" { "Send me a code" }
                p .soft { "You get an account that keeps what you collect." }
            }
            form hidden {
                label for="code" { "The code we sent" }
                input #code name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" title="six digits" required;
                button type="submit" { "Sign in" }
            }
            form hidden {
                p { "Your account " code {} " pays." }
                label for="comment" { "Say something with it, if you like" }
                input #comment name="comment" maxlength="1000" dir="auto";
                button type="submit" { "Collect: " (offer.price) }
            }
            p .note role="status" {}
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
