//! Transactions that can't go now, or that fail together.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use alloy::{primitives::Address, sol_types::SolCall};
use shared::{chain::contracts::native::Creator1155, model::TransactionStatus};

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

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_told_before_reasons_are_found() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-words", 2).await?;
    let closed = workshop.collection(&[]).await?;
    let is_slow = Arc::new(AtomicBool::new(true));
    let slow = Arc::clone(&is_slow);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let is_simulation = request.operation == "eth_simulateV1";
        if is_simulation && slow.load(Relaxed) { Act::Hold(Duration::from_secs(4)) } else { Act::Forward }
    })
    .await?;
    let refused = queue(&workshop, &artists[0], vec![renaming(closed, "ar://forbidden")]).await?[0];
    let done = queue(&workshop, &artists[1], vec![renaming(collection, "ar://done")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);

    let is_done = async || Ok(transaction(&workshop, &artists[1], done).await?.status == TransactionStatus::Mined);
    until("mined", is_done).await?;
    assert_eq!(transaction(&workshop, &artists[0], refused).await?.status, TransactionStatus::Sent);

    is_slow.store(false, Relaxed);
    running.done().await?;
    let row = transaction(&workshop, &artists[0], refused).await?;
    let reason = row.reason.unwrap_or_default();
    assert!(row.status == TransactionStatus::Reverted && reason.contains("lacks the permission"), "{reason}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn next_tokens_of_many_collections_are_read_side_by_side() -> Result<(), Error> {
    const COUNT: usize = 8;
    const DELAY: Duration = Duration::from_millis(400);
    let (workshop, artists, _) = stage("relay-side-by-side", COUNT).await?;
    let question = format!("0x{}", alloy::hex::encode(Creator1155::nextTokenIdCall::SELECTOR));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&asked);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation == "eth_call" && request.body["params"][0].to_string().contains(&question) {
            times.lock().unwrap().push(Instant::now());
            return Act::Hold(DELAY);
        }
        Act::Forward
    })
    .await?;
    for (index, artist) in artists.iter().enumerate() {
        let collection = workshop.collection(&[*artist]).await?;
        let moment = token_creation(artist, collection, &format!("ar://side/{index}"))?;
        queue(&workshop, artist, vec![moment]).await?;
    }

    let report = run(&relay(&workshop, &url)?).await?;

    assert_eq!(report.ended, COUNT);
    let asked = asked.lock().unwrap();
    assert!(asked[COUNT - 1] - asked[0] < DELAY, "one after the other: {:?}", asked[COUNT - 1] - asked[0]);
    Ok(())
}
