//! Moments whose ids are known only when their transaction is signed.

use std::collections::BTreeSet;

use shared::{
    model::{self, Amount, Creation, NewMoment, NewTokens, Plan, Sale, SaleTerms, TransactionStatus},
    store::{Artist, NewTransaction},
};

use crate::support::{Error, RESERVE, queue, relay, run, stage, transaction};

const GAS: u64 = 700_000;

fn creation(artist: &Artist, collection: model::Address, number: usize) -> Result<NewTransaction, Error> {
    let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
    let moment = NewMoment {
        uri: format!("ar://moment-{number}").parse()?,
        max_supply: 10,
        create_referral: model::Address::ZERO,
        sale: Sale::FixedPrice { terms, price: Amount::default() },
        payout_recipient: None,
        mint_to_creator: 1,
    };
    let tokens = NewTokens {
        collection,
        collection_name: "Workshop".to_owned(),
        account: artist.embedded_wallet,
        operator: artist.embedded_wallet,
        split: None,
        before: Vec::new(),
        moments: vec![moment],
    };
    Ok(NewTransaction { plan: Plan::Tokens(tokens), gas: GAS, creation: Creation::Moment, reserve: RESERVE })
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_moments_at_once_of_two_admins_are_ten_moments() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-tokens", 2).await?;
    let mut ids = Vec::new();
    for number in 0..10 {
        let artist = artists[number % 2];
        let moment = creation(&artist, collection.into(), number)?;
        ids.push((artist, queue(&workshop, &artist, vec![moment]).await?[0]));
    }

    let (first, second) = (relay(&workshop, &workshop.rpc_url)?, relay(&workshop, &workshop.rpc_url)?);
    let (one, other) = tokio::join!(run(&first), run(&second));
    one?;
    other?;

    let mut tokens = BTreeSet::new();
    for (artist, id) in ids {
        let row = transaction(&workshop, &artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
        tokens.insert(row.result.get("tokenId").ok_or("no token")?.to_string());
    }
    let expected: BTreeSet<_> = (2..12).map(|token| format!("\"{token}\"")).collect();
    assert_eq!(tokens, expected);
    Ok(())
}
