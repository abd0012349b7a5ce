//! Transactions that can't go now, or that fail together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use alloy::primitives::Address;
use shared::model::TransactionStatus;

use crate::{
    proxy::{self, Act},
    support::{Error, queue, relay, renaming, run, spawn, stage, token_creation, transaction, until},
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

    let running = spawn(relay);

    let is_mined = async || Ok(transaction(&workshop, &artists[1], id).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;
    let first = transaction(&workshop, &artists[0], held[0]).await?;
    assert_eq!(first.status, TransactionStatus::Queued, "it was served before the held ones ended");
    running.kill().await
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_of_a_batch_take_one_simulation() -> Result<(), Error> {
    const COUNT: usize = 12;
    let (workshop, artists, _) = stage("relay-reasons", COUNT).await?;
    let collection = workshop.collection(&[]).await?;
    let simulations = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&simulations);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        counter.fetch_add(usize::from(request.operation == "eth_simulateV1"), Relaxed);
        Act::Forward
    })
    .await?;
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
