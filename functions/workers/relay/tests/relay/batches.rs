use std::slice;

use alloy::{primitives::U256, providers::ext::AnvilApi};
use local::workshop::Workshop;
use shared::{
    model::{TransactionId, TransactionStatus},
    store::artist::Transaction,
};

use crate::support::{
    Error, FOREVER, RESERVE, batch_of, done, queue, relay, rename, renaming, run, spawn, stage, transaction, until,
    until_pooled,
};

#[tokio::test(flavor = "multi_thread")]
async fn first_transaction_deploys_the_account_and_settles_its_cost() -> Result<(), Error> {
    let workshop = Workshop::start("relay-first").await?;
    let artist = workshop.artist().await?;
    let collection = workshop.collection(&[artist]).await?;
    let ids = queue(&workshop, &artist, vec![renaming(collection, "ar://1"), renaming(collection, "ar://2")]).await?;

    let report = run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!((report.batches, report.transactions, report.ended, report.signatures), (1, 2, 2, 1));
    assert_eq!(workshop.uri_of(collection).await?, "ar://2");
    let first = transaction(&workshop, &artist, ids[0]).await?;
    assert_eq!((first.status, first.hashes.len(), first.reason), (TransactionStatus::Mined, 1, None));
    assert!(first.charge.wei > 0 && first.charge.wei < RESERVE);
    let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert!(account.deployed);
    let second = transaction(&workshop, &artist, ids[1]).await?;
    assert_eq!((account.waiting, account.spent), (0, first.charge.wei + second.charge.wei));
    assert!(workshop.transactions().queued(workshop.chain.id, 10).await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_renamings_are_done_once_in_each_artists_order() -> Result<(), Error> {
    const ARTISTS: usize = 30;
    const EACH: usize = 6;
    let workshop = Workshop::start("relay-many").await?;
    let mut artists = Vec::new();
    for _ in 0..ARTISTS {
        artists.push(workshop.artist().await?);
    }
    let collection = workshop.collection(&artists).await?;
    for number in 0..EACH {
        for (index, artist) in artists.iter().enumerate() {
            queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}/{number}"))]).await?;
        }
    }

    let report = run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!(report.ended, ARTISTS * EACH);
    assert!(report.signatures <= 10, "{report:?}");
    let (uris, counts) = done(&workshop, &[collection]).await?;
    assert!(counts.iter().filter(|(uri, _)| *uri != "ar://first").all(|(_, count)| *count == 1));
    for index in 0..ARTISTS {
        let own: Vec<_> = uris.iter().filter(|uri| uri.starts_with(&format!("ar://{index}/"))).collect();
        let expected: Vec<_> = (0..EACH).map(|number| format!("ar://{index}/{number}")).collect();
        assert!(own.into_iter().eq(expected.iter()), "artist {index}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn reverted_transaction_has_its_reason_and_others_are_mined() -> Result<(), Error> {
    let workshop = Workshop::start("relay-refused").await?;
    let (admin, stranger) = (workshop.artist().await?, workshop.artist().await?);
    let collection = workshop.collection(&[admin]).await?;
    let refused = queue(&workshop, &stranger, vec![renaming(collection, "ar://stranger")]).await?;
    let done = queue(&workshop, &admin, vec![renaming(collection, "ar://admin")]).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    let refused = transaction(&workshop, &stranger, refused[0]).await?;
    assert_eq!(refused.status, TransactionStatus::Reverted);
    assert!(refused.reason.unwrap_or_default().contains("lacks the permission"));
    assert!(refused.charge.wei > 0, "who fails pays");
    assert_eq!(transaction(&workshop, &admin, done[0]).await?.status, TransactionStatus::Mined);
    assert_eq!(workshop.uri_of(collection).await?, "ar://admin");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn call_outside_the_policy_fails_unsigned() -> Result<(), Error> {
    let workshop = Workshop::start("relay-policy").await?;
    let artist = workshop.artist().await?;
    let collection = workshop.collection(&[artist]).await?;
    let dearer = rename(collection, "ar://x").with_value(U256::ONE);
    let ids = queue(&workshop, &artist, vec![crate::support::calls(vec![dearer], 100_000)]).await?;

    let report = run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!(report.signatures, 0);
    assert_eq!(transaction(&workshop, &artist, ids[0]).await?.status, TransactionStatus::Failed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn hash_is_known_before_a_block_has_it() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-hash", 1).await?;
    let (node, store) = (workshop.node().await?, workshop.transactions());
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://sent")]).await?[0];
    let mut relay = relay(&workshop, &workshop.rpc_url)?;
    relay.times.rebroadcast = FOREVER;
    let mut running = spawn(relay);
    until("stored", async || {
        let row = transaction(&workshop, &artists[0], id).await?;
        Ok(row.batch.is_some() && batch_of(&workshop, &row).await?.is_some())
    })
    .await?;

    let mut row = transaction(&workshop, &artists[0], id).await?;
    assert_eq!(row.hashes.len(), 0, "nothing more is written for it");
    store.add_hashes(slice::from_mut(&mut row)).await?;
    until_pooled(&workshop, &row).await?;
    // A batch that was never stored had the same nonce.
    let mut other = [Transaction { id: TransactionId::new(), hashes: Vec::new(), ..row.clone() }];
    store.add_hashes(&mut other).await?;
    assert_eq!(other[0].hashes.len(), 0);

    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;
    running.done().await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.hashes, row.hashes);
    Ok(())
}
