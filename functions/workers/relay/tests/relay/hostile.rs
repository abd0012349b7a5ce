//! Contracts that attack the batch that calls them.

use alloy::primitives::{Address, U256};
use shared::{
    chain::contracts::native::Creator1155,
    model::{Call, TransactionStatus},
    store::artist::{ArtistTable, MadeCollections, PayoutAddress},
};

use crate::support::{
    Error, RENAMING_GAS, RESERVE, assert_done_once, calls, queue, relay, renaming, run, stage, transaction,
};

/// What `local/contracts/HostileCollection.sol` does, and whether the call that asks for it fails.
const ATTACKS: [(&str, bool); 8] = [
    ("invalid instruction", true),
    ("endless loop", true),
    ("long answer", false),
    ("long reason", true),
    ("reentry", true),
    ("forged events", true),
    ("demand for gas", true),
    ("nothing left", true),
];

fn attack(hostile: Address, kind: usize) -> Call {
    let call = Creator1155::updateTokenURICall { tokenId: U256::from(kind), newURI: "ar://forged".to_owned() };
    Call::new(hostile, &call)
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_contract_charges_only_its_callers() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-hostile", 2 * ATTACKS.len()).await?;
    let hostile = workshop.deploy("HostileCollection").await?;
    // As if the factory had made it: the relay calls no other collection.
    let made = MadeCollections::new(ArtistTable::new(&workshop.dynamodb, "ArtistTable"));
    made.add(workshop.chain.id, [hostile.into()].into()).await?;
    for artist in &artists {
        queue(&workshop, artist, vec![renaming(collection, "ar://before")]).await?;
    }
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let (mut honest, mut attackers, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for (index, pair) in artists.chunks(2).enumerate() {
        let attacks = vec![calls(vec![attack(hostile, index)], RENAMING_GAS)];
        attackers.push((pair[0], queue(&workshop, &pair[0], attacks).await?[0]));
        let uri = format!("ar://{index}");
        honest.push((pair[1], queue(&workshop, &pair[1], vec![renaming(collection, &uri)]).await?[0]));
        expected.push(uri);
    }

    let report = run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!((report.batches, report.ended), (1, artists.len()));
    let mut costs = Vec::new();
    for (artist, id) in honest {
        let row = transaction(&workshop, &artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined);
        costs.push(row.charge.wei);
    }
    let dearest = costs.iter().max().copied().unwrap_or_default();
    // Nobody honest pays for the others: equal calls cost about the same.
    assert!(dearest < 2 * costs.iter().min().copied().unwrap_or_default(), "{costs:?}");
    for ((artist, id), (what, fails)) in attackers.into_iter().zip(ATTACKS) {
        let row = transaction(&workshop, &artist, id).await?;
        let expected = if fails { TransactionStatus::Reverted } else { TransactionStatus::Mined };
        assert_eq!(row.status, expected, "{what}: {row:?}");
        assert!(row.charge.wei > 0 && row.charge.wei < RESERVE, "{what}");
        let burns = matches!(what, "invalid instruction" | "endless loop" | "nothing left");
        assert!(!burns || row.charge.wei > 3 * dearest / 2, "{what}: {} of {dearest}", row.charge.wei);
    }
    let (_, mut counts) = crate::support::done(&workshop, &[collection]).await?;
    assert_eq!(counts.remove("ar://before"), Some(artists.len()));
    counts.remove("ar://first");
    assert!(counts.into_iter().eq(expected.into_iter().map(|uri| (uri, 1))));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn account_that_overdraws_fails_alone() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-overdraft", 2).await?;
    let payee = Address::repeat_byte(5);
    workshop.payouts().add(artists[0].artist_id, &PayoutAddress { address: payee.into(), added_at: 0 }).await?;
    let gift = Call::payment(payee, U256::from(1_000_000));
    let overdraft = queue(&workshop, &artists[0], vec![calls(vec![gift], RENAMING_GAS)]).await?[0];
    queue(&workshop, &artists[1], vec![renaming(collection, "ar://paid")]).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    let row = transaction(&workshop, &artists[0], overdraft).await?;
    assert_eq!(row.status, TransactionStatus::Reverted, "{row:?}");
    assert_done_once(&workshop, collection, &["ar://paid".to_owned()]).await
}
