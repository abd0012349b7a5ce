//! Finds the pages of new moments, which the service shows some seconds after they are mined.

use std::time::Duration;

use moments_client::types::{Address, ChainId, TokenId};

use crate::{
    failure::Failure,
    output::{self, Output},
    service::{Repeat, Service, ask},
};

/// How often a moment is looked for, a second apart.
const LOOKS: u32 = 30;
/// Pause between two looks.
const NEXT_LOOK: Duration = Duration::from_secs(1);

/// Where moments are.
pub struct Place<'a> {
    pub chain: &'a ChainId,
    pub collection: &'a Address,
}

/// The pages' addresses, once they can be read, or what to know without one: the moments are there in any case. None are
/// asked for where the answer is printed as it is.
pub async fn wait_for(service: &Service, place: &Place<'_>, tokens: &[TokenId], output: Output) -> Vec<String> {
    let mut pages = Vec::new();
    if output.is_json {
        return pages;
    }
    let spinner = output::spinner("Mined. Waiting until it can be seen");
    for token in tokens {
        let page = page(service, place, token).await;
        pages.push(page.unwrap_or_else(|| format!("{}/{} is mined, and soon has a page", **place.collection, **token)));
    }
    spinner.finish_and_clear();
    pages
}

async fn page(service: &Service, place: &Place<'_>, token: &TokenId) -> Option<String> {
    for _ in 0..LOOKS {
        let read = || {
            let read = service.client.read_moment().chain_id(place.chain.clone());
            read.collection_address(place.collection.clone()).token_id(token.clone()).send()
        };
        match ask(Repeat::Safely, read).await {
            Ok(moment) => return Some(moment.page),
            Err(Failure::Refused(refusal)) if refusal.status == 404 => {}
            Err(_) => return None,
        }
        tokio::time::sleep(NEXT_LOOK).await;
    }
    None
}
