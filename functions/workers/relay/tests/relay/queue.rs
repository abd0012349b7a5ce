//! Transactions that can't go now, or that fail together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::{
    primitives::Address,
    providers::{Provider, ext::AnvilApi},
};
use futures::future::try_join_all;
use local::workshop::Workshop;
use shared::{
    clock,
    model::{TransactionStatus, WriteKind},
    store::artist::{Admission, Admitted, Artist, Pool, PoolLimit},
};

use crate::{
    proxy::{self, Act, Request},
    support::{
        Error, FOREVER, Ways, counting, counting_if, queue, relay, relay_over, renaming, run, silent_relay, spawn,
        stage, token_creation, transaction, until, until_pooled, until_sent,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn held_transactions_hide_no_other() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-window", 2).await?;
    let mut held = Vec::new();
    for number in 0..5 {
        // Nodes are asked for a while whether the collection is really not there.
        let moment = token_creation(&artists[0], Address::repeat_byte(0x55), &format!("ar://held/{number}"))?;
        held.extend(queue(&workshop, &artists[0], vec![moment]).await?);
    }
    let id = queue(&workshop, &artists[1], vec![renaming(collection, "ar://behind")]).await?[0];
    let mut relay = relay(&workshop, &workshop.rpc_url)?;
    relay.window = 2;
    relay.times.grace = FOREVER;

    let running = spawn(relay);

    let is_mined = async || Ok(transaction(&workshop, &artists[1], id).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;
    let first = transaction(&workshop, &artists[0], held[0]).await?;
    assert_eq!(first.status, TransactionStatus::Queued, "it was served before the held ones ended");
    running.kill().await
}

/// Queues so many times twenty transactions whose turns are over, and that are held while nodes are asked whether their
/// collection is really not there.
async fn hold(workshop: &Workshop, artist: &Artist, times: usize) -> Result<(), Error> {
    let before = clock::now()? - Duration::from_secs(600);
    for _ in 0..times {
        let held = token_creation(artist, Address::repeat_byte(0x55), "ar://held")?;
        let admission = Admission {
            pool: PoolLimit { pool: Pool::Newcomers, wei: u64::MAX, assured: 0 },
            ..workshop.admission(artist, vec![held; 20]).await?
        };
        let admitted = workshop.transactions().admit(&admission, before).await?;
        assert!(matches!(admitted, Admitted::Queued(_)), "{admitted:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn held_rows_hide_nobody_after_a_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cursor", 3).await?;
    hold(&workshop, &artists[0], 2).await?;
    let behind = async |artist: &Artist, uri: &str| queue(&workshop, artist, vec![renaming(collection, uri)]).await;
    let mut ids = vec![(artists[1], behind(&artists[1], "ar://behind/1").await?[0])];
    let mut relay = relay(&workshop, &workshop.rpc_url)?;
    relay.window = 2;
    relay.times.grace = FOREVER;
    let running = spawn(relay);

    for next in [Some(artists[2]), None] {
        let (artist, id) = ids[ids.len() - 1];
        let is_mined = async || Ok(transaction(&workshop, &artist, id).await?.status == TransactionStatus::Mined);
        until("mined", is_mined).await?;
        if let Some(next) = next {
            ids.push((next, behind(&next, "ar://behind/2").await?[0]));
        }
    }

    assert_eq!(workshop.transactions().queued(workshop.chain.id, 100).await?.len(), 40);
    running.kill().await
}

/// Whether a request begins to read the first page of a queue, as each turn of the relay does once in each.
fn begins_a_turn(request: &Request, window: usize) -> bool {
    let (body, first) = (&request.body, &request.body["ExpressionAttributeValues"][":place"]["S"]);
    request.operation == "Query" && *first == "0" && body["Limit"] == window && body["ExclusiveStartKey"].is_null()
}

#[tokio::test(flavor = "multi_thread")]
async fn artist_behind_four_thousand_held_transactions_is_served_within_two_blocks() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-crowd", 41).await?;
    let ((artist, crowd), node) = (artists.split_last().ok_or("nobody")?, workshop.node().await?);
    let crowd = crowd.iter().map(|member| hold(&workshop, member, 5));
    try_join_all(crowd).await?;
    node.anvil_set_auto_mine(false).await?;
    let head = node.get_block_number().await?;
    let id = queue(&workshop, artist, vec![renaming(collection, "ar://behind")]).await?[0];
    let (mut ways, window) = (Ways::of(&workshop), relay(&workshop, &workshop.rpc_url)?.window);
    let (store, reads) = counting_if(&ways.store, move |request| begins_a_turn(request, window)).await?;
    ways.store = store;
    let turns = Arc::new(AtomicUsize::new(0));
    let taken = Arc::clone(&turns);
    ways.node = proxy::start(&ways.node, move |request| {
        if request.operation == "eth_sendRawTransaction" {
            // It may be sent again.
            let _ = taken.compare_exchange(0, reads.load(Relaxed) / WriteKind::ALL.len(), Relaxed, Relaxed);
        }
        Act::Forward
    })
    .await?;
    let mut relay = relay_over(&workshop, &ways).await?;
    relay.times.grace = FOREVER;
    let running = spawn(relay);

    // No block comes before it is sent.
    let sent = until_sent(&workshop, artist, id).await?;
    until_pooled(&workshop, &sent).await?;
    node.anvil_mine(Some(1), None).await?;
    let is_mined = async || Ok(transaction(&workshop, artist, id).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;

    assert_eq!(transaction(&workshop, artist, id).await?.mined.ok_or("not mined")?.block, head + 1);
    // That is within two blocks as long as a turn is shorter than one: how many come meanwhile is counted in turns.
    let turns = turns.load(Relaxed);
    assert!((1..=2).contains(&turns), "it was sent in turn {turns}");
    assert_eq!(workshop.transactions().queued(workshop.chain.id, 5_000).await?.len(), 4_000);
    running.kill().await
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_of_a_batch_take_one_simulation() -> Result<(), Error> {
    const COUNT: usize = 12;
    let (workshop, artists, _) = stage("relay-reasons", COUNT).await?;
    let collection = workshop.collection(&[]).await?;
    let (url, simulations) = counting(&workshop.rpc_url, "eth_simulateV1").await?;
    let mut ids = Vec::new();
    for artist in &artists {
        ids.extend(queue(&workshop, artist, vec![renaming(collection, "ar://forbidden")]).await?);
    }

    let report = run(&relay(&workshop, &url)?).await?;

    assert_eq!((report.batches, report.ended), (1, COUNT));
    assert_eq!(simulations.load(Relaxed), 1);
    for (artist, id) in artists.iter().zip(ids) {
        let row = transaction(&workshop, artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Reverted);
        let reason = row.reason.unwrap_or_default();
        assert!(reason.contains("lacks the permission"), "{reason}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_told_before_reasons_are_found() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-words", 2).await?;
    let closed = workshop.collection(&[]).await?;
    let (silent, gate) = silent_relay(&workshop).await?;
    let refused = queue(&workshop, &artists[0], vec![renaming(closed, "ar://forbidden")]).await?[0];
    let done = queue(&workshop, &artists[1], vec![renaming(collection, "ar://done")]).await?[0];
    let mut running = spawn(silent);

    let is_done = async || Ok(transaction(&workshop, &artists[1], done).await?.status == TransactionStatus::Mined);
    until("mined", is_done).await?;
    assert_eq!(transaction(&workshop, &artists[0], refused).await?.status, TransactionStatus::Sent);

    gate.open();
    running.done().await?;
    let row = transaction(&workshop, &artists[0], refused).await?;
    let reason = row.reason.unwrap_or_default();
    assert!(row.status == TransactionStatus::Reverted && reason.contains("lacks the permission"), "{reason}");
    Ok(())
}
