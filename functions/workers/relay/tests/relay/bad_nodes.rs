//! A bad node in first place, and a good one behind it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use alloy::providers::{Provider, ext::AnvilApi};
use relay::ChainRelay;
use serde_json::json;
use shared::{chain::node::Node, model::TransactionStatus};

use crate::{
    proxy::{self, Act, Request, Vice, Wayward},
    support::{
        Error, FOREVER, NODE_TIMEOUT, assert_done_once, nonces, queue, relay, relay_behind, renaming, run, spawn,
        stage, transaction, until, until_sent,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn bad_node_in_first_place_holds_nothing_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-bad-node", 1).await?;
    let node = workshop.node().await?;
    let mut expected = Vec::new();
    // A node that stands still is left out later than that.
    for vice in Vice::ALL.into_iter().filter(|vice| *vice != Vice::StandsStill) {
        let first = Wayward::default();
        first.see(node.get_block_number().await?);
        first.turn(Some(vice));
        let wayward = first.clone();
        let mut relay = relay_behind(&workshop, move |request| wayward.act(request)).await?;
        // Nothing that it does may wait for these to be over.
        (relay.times.grace, relay.times.nonce_grace) = (FOREVER, FOREVER);
        let uri = format!("ar://{vice:?}");
        queue(&workshop, &artists[0], vec![renaming(collection, &uri)]).await?;
        expected.push(uri);

        let report = run(&relay).await?;

        assert_eq!((report.ended, report.bumped), (1, 0), "{vice:?}");
        assert!(first.disturbed() > 0, "{vice:?}");
    }
    assert_done_once(&workshop, collection, &expected).await
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_receipt_decides_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-forged", 1).await?;
    let (lies, lied) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (is_lying, counter) = (Arc::clone(&lies), Arc::clone(&lied));
    let relay = relay_behind(&workshop, move |request| match &*request.operation {
        "eth_getTransactionReceipt" if is_lying.load(Relaxed) => {
            counter.fetch_add(1, Relaxed);
            Act::add("status", json!("0x0"))
        }
        // No two nodes have the block that would prove the truth.
        "eth_getBlockByNumber" if is_lying.load(Relaxed) => Act::add("transactions", json!([])),
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://true")]).await?[0];
    let mut running = spawn(relay);
    until_sent(&workshop, &artists[0], id).await?;
    workshop.node().await?.anvil_mine(Some(1), None).await?;
    let before = lied.load(Relaxed);
    until("lied", async || Ok(lied.load(Relaxed) > before + 5)).await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Sent);

    lies.store(false, Relaxed);

    assert_eq!(running.done().await?.batches, 1);
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://true".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn receipt_forged_while_the_other_node_fails_for_a_moment_decides_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-hiccup", 1).await?;
    let (mut nodes, failures) = (Vec::new(), Arc::new(AtomicUsize::new(0)));
    let failed = Arc::clone(&failures);
    let forges = |request: &Request| match &*request.operation {
        "eth_getTransactionReceipt" => Act::add("status", json!("0x0")),
        _ => Act::Forward,
    };
    // Every other receipt.
    let hiccups = move |request: &Request| match &*request.operation {
        "eth_getTransactionReceipt" if failed.fetch_add(1, Relaxed).is_multiple_of(2) => {
            Act::Answer(500, "internal server error".to_owned())
        }
        _ => Act::Forward,
    };
    nodes.push(proxy::start(&workshop.rpc_url, forges).await?);
    nodes.push(proxy::start(&workshop.rpc_url, hiccups).await?);
    let urls = json!({ workshop.chain.id.to_string(): nodes }).to_string().parse()?;
    let node = Node::with_timeout(&urls, workshop.chain.id, NODE_TIMEOUT)?;
    let relay = ChainRelay { node, ..relay(&workshop, &workshop.rpc_url)? };
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://hiccup")]).await?[0];

    assert_eq!(run(&relay).await?.ended, 1);

    assert!(failures.load(Relaxed) > 0);
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://hiccup".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn receipt_counts_only_once_its_block_is_sealed() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-unsealed", 1).await?;
    let (early, told) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (is_early, counter) = (Arc::clone(&early), Arc::clone(&told));
    // The hash of the block as it was before its last transaction.
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation == "eth_getTransactionReceipt" && is_early.load(Relaxed) {
            counter.fetch_add(1, Relaxed);
            return Act::add("blockHash", json!(format!("0x{}", "22".repeat(32))));
        }
        Act::Forward
    })
    .await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://sealed")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    until_sent(&workshop, &artists[0], id).await?;
    workshop.node().await?.anvil_mine(Some(1), None).await?;
    let before = told.load(Relaxed);
    until("told early", async || Ok(told.load(Relaxed) > before + 5)).await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Sent);

    early.store(false, Relaxed);

    assert_eq!(running.done().await?.ended, 1);
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://sealed".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn invented_nonce_moves_no_lane() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-invented", 1).await?;
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://before")]).await?;
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let invents = |request: &proxy::Request| match &*request.operation {
        "eth_getTransactionCount" => Act::Say(json!("0x10000000000")),
        _ => Act::Forward,
    };
    // As the only node, and with another one behind it.
    let alone = relay(&workshop, &proxy::start(&workshop.rpc_url, invents).await?)?;
    let first = relay_behind(&workshop, invents).await?;
    let mut expected = vec!["ar://before".to_owned()];
    for (relay, uri) in [(alone, "ar://alone"), (first, "ar://first-place")] {
        queue(&workshop, &artists[0], vec![renaming(collection, uri)]).await?;
        expected.push(uri.to_owned());

        run(&relay).await?;

        for (lane, _) in workshop.lanes() {
            assert!(nonces(&workshop, *lane).await?.0 < 10, "{uri}");
        }
    }
    assert_done_once(&workshop, collection, &expected).await
}
