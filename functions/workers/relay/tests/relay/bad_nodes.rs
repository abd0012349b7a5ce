//! A bad node in first place, and a good one behind it.

use std::{
    collections::BTreeSet,
    iter,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use alloy::providers::{Provider, ext::AnvilApi};
use local::workshop::Workshop;
use relay::ChainRelay;
use serde_json::json;
use shared::{
    chain::node::Node,
    model::{TransactionId, TransactionStatus},
    store::artist::{Artist, NewTransaction},
};

use crate::{
    proxy::{self, Act, Gate, Request, Vice, Wayward},
    support::{
        Error, FOREVER, Running, SHORT, assert_done_once, nodes, nonces, queue, relay, relay_behind, renaming, run,
        spawn, stage, transaction, until, until_pooled, until_sent,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn bad_node_in_first_place_holds_nothing_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-bad-node", 1).await?;
    let node = workshop.node().await?;
    let mut expected = Vec::new();
    for &vice in Vice::UNPROVED {
        let first = Wayward::default();
        first.see(node.get_block_number().await?);
        first.turn(Some(vice));
        let wayward = first.clone();
        let mut relay = relay_behind(&workshop, move |request| wayward.act(request)).await?;
        let is_passive = matches!(vice, Vice::StandsStill | Vice::Hangs | Vice::Throttles | Vice::ThrottlesSome);
        if !is_passive {
            // Nothing that it does may wait for these to be over.
            (relay.times.grace, relay.times.nonce_grace) = (FOREVER, FOREVER);
        }
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
async fn slow_node_keeps_all_due_batches_waiting_together() -> Result<(), Error> {
    const FINAL: u64 = 12;
    let (workshop, artists, collection) = stage("relay-slow-node", 1).await?;
    let lasting = |url: &str| -> Result<ChainRelay, Error> {
        let mut relay = relay(&workshop, url)?;
        relay.chain.reorg_depth = FINAL;
        Ok(relay)
    };
    let (mut blocks, mut lanes) = (Vec::new(), Vec::new());
    for uri in ["ar://0", "ar://1"] {
        let id = queue(&workshop, &artists[0], vec![renaming(collection, uri)]).await?[0];
        run(&lasting(&workshop.rpc_url)?).await?;
        let row = transaction(&workshop, &artists[0], id).await?;
        blocks.push(format!("{:#x}", row.mined.ok_or("not mined")?.block));
        lanes.push(row.batch.ok_or("no batch")?.lane);
    }
    assert_eq!(lanes[0], lanes[1]);
    workshop.node().await?.anvil_mine(Some(FINAL), None).await?;
    // It shows neither block before both are asked for.
    let (gate, asked) = (Gate::default(), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&asked);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let block = request.body["params"][0].as_str().unwrap_or_default().to_owned();
        if request.operation != "eth_getBlockByNumber" || !blocks.contains(&block) {
            return Act::Forward;
        }
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(block);
        if blocks.iter().all(|block| seen.contains(block)) {
            gate.open();
        }
        Act::Wait(gate.clone())
    })
    .await?;

    run(&lasting(&url)?).await?;

    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(asked.len() >= 2 && asked[0] != asked[1], "{asked:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_node_keeps_all_open_batches_waiting_together() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-slow-receipts", 2).await?;
    let (node, expected) = (workshop.node().await?, ["ar://0", "ar://1"].map(str::to_owned));
    node.anvil_set_auto_mine(false).await?;
    let sender = relay(&workshop, &workshop.rpc_url)?;
    let (holder, running) = (sender.holder.clone(), spawn(sender));
    for (artist, uri) in artists.iter().zip(&expected) {
        let id = queue(&workshop, artist, vec![renaming(collection, uri)]).await?[0];
        until_pooled(&workshop, &until_sent(&workshop, artist, id).await?).await?;
    }
    running.kill().await?;
    let (gate, asked) = (Gate::default(), Arc::new(Mutex::new(BTreeSet::new())));
    let (held, seen) = (gate.clone(), Arc::clone(&asked));
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation != "eth_getTransactionReceipt" {
            return Act::Forward;
        }
        let hash = request.body["params"][0].as_str().unwrap_or_default().to_owned();
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(hash);
        Act::Wait(held.clone())
    })
    .await?;
    // Of batches that are looked for in turn, the second is never asked for.
    let urls = json!({ workshop.chain.id.to_string(): [url] }).to_string().parse()?;
    let slow = Node::with_timeout(&urls, workshop.chain.id, FOREVER)?;
    let mut running = spawn(ChainRelay { holder, node: slow, ..relay(&workshop, &workshop.rpc_url)? });

    until("asked for both", async || Ok(asked.lock().unwrap_or_else(PoisonError::into_inner).len() == 2)).await?;

    gate.open();
    node.anvil_mine(Some(1), None).await?;
    running.done().await?;
    assert_done_once(&workshop, collection, &expected).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_block_proves_decides_nothing() -> Result<(), Error> {
    lie(Vice::ForgesStatus, 0, TransactionStatus::Sent).await
}

#[tokio::test(flavor = "multi_thread")]
async fn block_that_another_node_contradicts_decides_nothing() -> Result<(), Error> {
    lie(Vice::Forks, 1, TransactionStatus::Sent).await
}

#[tokio::test(flavor = "multi_thread")]
async fn block_that_never_comes_decides_nothing() -> Result<(), Error> {
    lie(Vice::InventsProofs, 1, TransactionStatus::Mined).await
}

/// A good node, and its URL.
async fn wayward(workshop: &Workshop) -> Result<(Wayward, String), Error> {
    let node = Wayward::default();
    let wayward = node.clone();
    Ok((node, proxy::start(&workshop.rpc_url, move |request| wayward.act(request)).await?))
}

/// Queues a transaction and starts a relay. Once nodes have the batch, which no block will have by itself, one of them
/// turns bad.
async fn turn_when_sent(
    workshop: &Workshop,
    relay: ChainRelay,
    (artist, wish): (&Artist, NewTransaction),
    (turns, vice): (&Wayward, Vice),
) -> Result<(TransactionId, Running), Error> {
    let (node, id) = (workshop.node().await?, queue(workshop, artist, vec![wish]).await?[0]);
    node.anvil_set_auto_mine(false).await?;
    let running = spawn(relay);
    until_pooled(workshop, &until_sent(workshop, artist, id).await?).await?;
    turns.see(node.get_block_number().await?);
    turns.turn(Some(vice));
    Ok((id, running))
}

/// A node lies about a transaction, with this many others. Once a block has it, it has the given status.
async fn lie(vice: Vice, others: usize, beside: TransactionStatus) -> Result<(), Error> {
    let (workshop, artists, collection) = stage(&format!("relay-{vice:?}").to_lowercase(), 1).await?;
    let (node, (liar, url)) = (workshop.node().await?, wayward(&workshop).await?);
    let urls: Vec<_> = iter::once(url).chain(iter::repeat_n(workshop.rpc_url.clone(), others)).collect();
    let mut relay = ChainRelay { node: nodes(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
    // No other node will have the block.
    relay.times.quiet = FOREVER;
    let wish = (&artists[0], renaming(collection, "ar://true"));
    let (id, mut running) = turn_when_sent(&workshop, relay, wish, (&liar, vice)).await?;
    let status = async || Ok::<_, Error>(transaction(&workshop, &artists[0], id).await?.status);
    let lied = async || {
        let before = liar.disturbed();
        until("lied", async || Ok(liar.disturbed() > before + 20)).await
    };
    lied().await?;
    assert_eq!(status().await?, TransactionStatus::Sent);
    node.anvil_mine(Some(1), None).await?;
    if beside == TransactionStatus::Sent {
        lied().await?;
        assert_eq!(status().await?, beside);
        liar.turn(None);
    }

    node.anvil_set_auto_mine(true).await?;

    assert_eq!(running.done().await?.batches, 1);
    assert_eq!(status().await?, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://true".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn block_of_one_node_decides_once_no_other_has_said_anything_new_for_long() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-behind", 1).await?;
    let node = workshop.node().await?;
    let mut expected = Vec::new();
    for (quiet, status) in [(FOREVER, TransactionStatus::Sent), (SHORT, TransactionStatus::Mined)] {
        let (second, url) = wayward(&workshop).await?;
        let mut relay = relay(&workshop, &workshop.rpc_url)?;
        relay.node = nodes(&workshop, &[workshop.rpc_url.clone(), url])?;
        relay.times.quiet = quiet;
        let uri = format!("ar://{status:?}");
        let wish = (&artists[0], renaming(collection, &uri));
        expected.push(uri);
        let (id, mut running) = turn_when_sent(&workshop, relay, wish, (&second, Vice::StandsStill)).await?;
        node.anvil_mine(Some(1), None).await?;
        if status == TransactionStatus::Sent {
            let before = second.disturbed();
            until("asked", async || Ok(second.disturbed() > before + 20)).await?;
        } else {
            until("believed", async || Ok(transaction(&workshop, &artists[0], id).await?.status == status)).await?;
        }
        assert_eq!(transaction(&workshop, &artists[0], id).await?.status, status);

        second.turn(None);

        node.anvil_set_auto_mine(true).await?;
        running.done().await?;
        assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    }
    assert_done_once(&workshop, collection, &expected).await
}

#[tokio::test(flavor = "multi_thread")]
async fn receipt_forged_while_the_other_node_fails_for_a_moment_decides_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-hiccup", 1).await?;
    let (first, failures) = (Wayward::default(), Arc::new(AtomicUsize::new(0)));
    first.turn(Some(Vice::ForgesStatus));
    let failed = Arc::clone(&failures);
    // More calls in a row succeed than a look takes.
    let hiccups = move |request: &Request| match &*request.operation {
        "eth_getTransactionReceipt" | "eth_getBlockByNumber" | "eth_getBlockReceipts"
            if failed.fetch_add(1, Relaxed).is_multiple_of(5) =>
        {
            Act::Answer(500, "internal server error".to_owned())
        }
        _ => Act::Forward,
    };
    let urls = [
        proxy::start(&workshop.rpc_url, move |request| first.act(request)).await?,
        proxy::start(&workshop.rpc_url, hiccups).await?,
    ];
    let relay = ChainRelay { node: nodes(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
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
