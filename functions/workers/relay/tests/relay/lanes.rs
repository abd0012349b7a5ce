//! Lanes without money, without a working key, that another program uses, or that are replaced.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, ext::AnvilApi},
};
use local::workshop::Workshop;
use relay::{ChainRelay, Times};
use shared::{
    chain::{
        node::{Node, NodeTimes, Nonce},
        wallet::LaneSigners,
    },
    model::TransactionStatus,
    store::artist::{BatchStatus, Slot},
};

use crate::{
    proxy::{self, Act, Vice, Wayward},
    support::{
        Error, FOREVER, Log, SHORT, TIMES, Ways, assert_done_once, disown, epoch, forgetful, nodes, nonces, queue,
        relay, relay_over, renaming, run, spawn, stage, transaction, until, until_mined, until_pooled, until_sent,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn lane_without_money_leaves_the_queue_to_the_others() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-poor", 3).await?;
    let lanes: Vec<_> = workshop.lanes().iter().map(|(lane, _)| *lane).collect();
    let node = workshop.node().await?;
    for poor in &lanes[..lanes.len() - 1] {
        node.anvil_set_balance(*poor, U256::ZERO).await?;
    }
    for (index, artist) in artists.iter().enumerate() {
        queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?;
    }

    let report = run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!((report.ended, report.bumped), (3, 0));
    assert_eq!(nonces(&workshop, lanes[0]).await?, (0, 0));
    assert!(nonces(&workshop, lanes[lanes.len() - 1]).await?.1 > 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn emptied_lane_keeps_its_fees_and_goes_on_after_a_refill() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-refill", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let refused = Arc::new(AtomicUsize::new(0));
    let (counter, is_empty) = (Arc::clone(&refused), Arc::new(AtomicBool::new(false)));
    let emptied = Arc::clone(&is_empty);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation == "eth_sendRawTransaction" && emptied.load(Relaxed) {
            counter.fetch_add(1, Relaxed);
        }
        Act::Forward
    })
    .await?;
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://refilled")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    let hash = until_sent(&workshop, &artist, id).await?.hashes[0];

    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::ZERO).await?;
    }
    node.anvil_drop_transaction(hash).await?;
    is_empty.store(true, Relaxed);
    until("refused", async || Ok(refused.load(Relaxed) >= 6)).await?;
    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::from(1_000_000_000_000_000_000_u64)).await?;
    }
    until("sent again", async || Ok(node.get_transaction_by_hash(hash).await?.is_some())).await?;
    node.anvil_mine(Some(1), None).await?;

    assert_eq!(running.done().await?.bumped, 0);
    assert_eq!(transaction(&workshop, &artist, id).await?.hashes, [hash]);
    assert_done_once(&workshop, collection, &["ar://refilled".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn rich_lane_pays_one_that_can_not_pay_for_its_open_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lent", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://lent")]).await?[0];
    let mut relay = relay(&workshop, &workshop.rpc_url)?;
    relay.times.affinity = Duration::from_millis(50);
    let mut running = spawn(relay);
    let sent = until_sent(&workshop, &artist, id).await?;
    let (hash, poor) = (sent.hashes[0], sent.batch.ok_or("no batch")?.lane.into());

    node.anvil_set_balance(poor, U256::ZERO).await?;
    node.anvil_drop_transaction(hash).await?;
    let rich = workshop.lanes().iter().map(|(lane, _)| *lane).find(|lane| *lane != poor).ok_or("one lane")?;
    until("paid", async || Ok(node.get_transaction_count(rich).pending().await? == 1)).await?;
    // The block comes later than the poor lane waits for money.
    tokio::time::sleep(Duration::from_secs(1)).await;
    node.anvil_set_interval_mining(1).await?;

    running.done().await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.hashes), (TransactionStatus::Mined, vec![hash]));
    for (lane, _) in workshop.lanes() {
        let (stored, mined) = nonces(&workshop, *lane).await?;
        assert_eq!((stored, mined), (1, 1), "one batch, one payment");
        assert!(node.get_balance(*lane).await? > U256::ZERO);
    }
    assert_done_once(&workshop, collection, &["ar://lent".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_whose_key_fails_leaves_the_queue_to_the_others() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-key", 1).await?;
    let (broken, key) = workshop.lanes()[0].clone();
    let kms = proxy::start(&workshop.endpoints.aws, move |request| {
        if request.body["KeyId"] == key { Act::Answer(500, "{}".to_owned()) } else { Act::Forward }
    })
    .await?;
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://signed")]).await?;

    run(&relay_over(&workshop, &Ways { kms, ..Ways::of(&workshop) }).await?).await?;

    assert_eq!(nonces(&workshop, broken).await?, (0, 0));
    assert_done_once(&workshop, collection, &["ar://signed".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nonce_used_by_another_program_requeues_its_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-foreign", 1).await?;
    let artist = artists[0];
    let (url, forgets) = forgetful(&workshop).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://moved")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    let batch = until_sent(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    let other = workshop.use_lane(batch.lane.into()).await?;
    until_mined(&workshop, other).await?;
    forgets.store(false, Relaxed);

    running.done().await?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    let displaced = workshop.transactions().batch(&slot).await?.ok_or("no batch")?;
    assert_eq!(displaced.status, BatchStatus::Displaced);
    assert_done_once(&workshop, collection, &["ar://moved".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_waits_while_no_node_can_show_who_used_its_nonce() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-unproven", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let (forgets, can_show) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (oldest, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut urls = Vec::new();
    for _ in 0..2 {
        let (forgets, can_show) = (Arc::clone(&forgets), Arc::clone(&can_show));
        let (oldest, asked) = (Arc::clone(&oldest), Arc::clone(&asked));
        let prunes = move |request: &proxy::Request| match &*request.operation {
            "eth_sendRawTransaction" if forgets.load(Relaxed) => request.swallow(),
            "eth_getTransactionCount" if !can_show.load(Relaxed) && is_before(request, oldest.load(Relaxed)) => {
                asked.fetch_add(1, Relaxed);
                Act::Refuse("missing trie node")
            }
            _ => Act::Forward,
        };
        urls.push(proxy::start(&workshop.rpc_url, prunes).await?);
    }
    let (alone, pruned) = (relay(&workshop, &workshop.rpc_url)?, nodes(&workshop, &urls)?);
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://moved")]).await?[0];
    let times = Times { proof_patience: SHORT, ..TIMES };
    let mut running = spawn(ChainRelay { node: pruned, times, ..alone });
    let batch = until_sent(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    let other = workshop.use_lane(batch.lane.into()).await?;
    until_mined(&workshop, other).await?;
    oldest.store(usize::try_from(node.get_block_number().await?)? + 50, Relaxed);
    node.anvil_mine(Some(100), None).await?;
    forgets.store(false, Relaxed);

    // Some fifteen times in each search.
    until("asked", async || Ok(asked.load(Relaxed) >= 40)).await?;

    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    let waiting = workshop.transactions().batch(&slot).await?.ok_or("no batch")?;
    assert_eq!(waiting.status, BatchStatus::Open);
    can_show.store(true, Relaxed);
    running.done().await?;
    let displaced = workshop.transactions().batch(&slot).await?.ok_or("no batch")?;
    assert_eq!(displaced.status, BatchStatus::Displaced);
    assert_done_once(&workshop, collection, &["ar://moved".to_owned()]).await
}

/// Whether a request is about the state of a block before this one.
fn is_before(request: &proxy::Request, block: usize) -> bool {
    let number = request.body["params"][1].as_str().and_then(|number| number.strip_prefix("0x"));
    number.and_then(|number| usize::from_str_radix(number, 16).ok()).is_some_and(|number| number < block)
}

#[tokio::test(flavor = "multi_thread")]
async fn user_of_a_nonce_is_found_at_a_node_that_keeps_few_states() -> Result<(), Error> {
    /// Between two of the ages that are looked at first, 63 and 127.
    const AGE: u64 = 100;
    let (workshop, ..) = stage("relay-pruned", 1).await?;
    let (node, lane) = (workshop.node().await?, workshop.lanes()[0].0);
    node.anvil_mine(Some(200), None).await?;
    let sent = workshop.use_lane(lane).await?;
    let used = until_mined(&workshop, sent).await?;
    node.anvil_mine(Some(AGE), None).await?;
    let url = pruned(&workshop, used - 20, &Arc::default()).await?;

    let nonce = Nonce { chain: workshop.chain.id, sender: lane, number: 0 };
    let user = nodes(&workshop, &[url])?.user_of_nonce(nonce, 1).await?;

    assert_eq!(user, Some(sent));
    Ok(())
}

/// A way to the node that lacks the state of blocks before this one, until the flag says that it has them.
async fn pruned(workshop: &Workshop, oldest: u64, has_all: &Arc<AtomicBool>) -> Result<String, Error> {
    let (oldest, has_all) = (usize::try_from(oldest)?, Arc::clone(has_all));
    proxy::start(&workshop.rpc_url, move |request| {
        let is_old = request.operation == "eth_getTransactionCount" && is_before(request, oldest);
        if is_old && !has_all.load(Relaxed) { Act::Refuse("missing trie node") } else { Act::Forward }
    })
    .await
}

/// A way to the node that says of each sender that it has sent a billion transactions.
async fn forger(workshop: &Workshop) -> Result<String, Error> {
    let forger = Wayward::default();
    forger.turn(Some(Vice::ForgesNonces));
    proxy::start(&workshop.rpc_url, move |request| forger.act(request)).await
}

/// Nodes of which each is waited for, whatever it does.
fn all_heard(workshop: &Workshop, urls: &[String]) -> Result<Node, Error> {
    Ok(nodes(workshop, urls)?.with_times(NodeTimes { hedge: FOREVER, penalty: Duration::ZERO }))
}

/// Uses a nonce of each of these lanes, long ago. Returns a block between then and now.
async fn use_long_ago(workshop: &Workshop, lanes: &[Address]) -> Result<u64, Error> {
    let mut used = 0;
    for lane in lanes {
        used = until_mined(workshop, workshop.use_lane(*lane).await?).await?;
    }
    workshop.node().await?.anvil_mine(Some(100), None).await?;
    Ok(used + 50)
}

/// Fails unless each lane's next nonce is the chain's.
async fn assert_nonces_agree(workshop: &Workshop) -> Result<(), Error> {
    for (lane, _) in workshop.lanes() {
        let (stored, mined) = nonces(workshop, *lane).await?;
        assert_eq!(stored, mined, "{lane}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nonce_that_two_nodes_of_three_invent_moves_no_lane() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-colluding", 1).await?;
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://before")]).await?;
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let urls = [forger(&workshop).await?, forger(&workshop).await?, workshop.rpc_url.clone()];
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://after")]).await?;

    let node = all_heard(&workshop, &urls)?;
    run(&ChainRelay { node, ..relay(&workshop, &workshop.rpc_url)? }).await?;

    assert_nonces_agree(&workshop).await?;
    assert_done_once(&workshop, collection, &["ar://before".to_owned(), "ar://after".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_whose_row_is_lost_waits_and_says_so_while_nodes_contradict_each_other() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lost-disputed", 1).await?;
    let (artist, lost, has_all) = (artists[0], workshop.lanes()[0].0, Arc::default());
    let between = use_long_ago(&workshop, &[lost]).await?;
    let urls = [forger(&workshop).await?, pruned(&workshop, between, &has_all).await?];
    let disputed = ChainRelay { node: all_heard(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://waited")]).await?[0];
    let (log, listening) = Log::listen();

    run(&disputed).await?;

    drop(listening);
    assert!(log.says(&["not found", &shared::model::Address::from(lost).to_string()]));
    assert!(workshop.transactions().lane(workshop.chain.id, lost.into()).await?.is_none());
    let batch = transaction(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    assert_ne!(Address::from(batch.lane), lost, "the other lane goes on, at the nonce 0 that a node says");
    has_all.store(true, Relaxed);
    queue(&workshop, &artist, vec![renaming(collection, "ar://proved")]).await?;
    run(&disputed).await?;
    // A block shows it now.
    assert_nonces_agree(&workshop).await?;
    assert_done_once(&workshop, collection, &["ar://waited".to_owned(), "ar://proved".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_whose_row_is_lost_opens_where_all_nodes_agree() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lost-agreed", 1).await?;
    let lanes: Vec<_> = workshop.lanes().iter().map(|(lane, _)| *lane).collect();
    let between = use_long_ago(&workshop, &lanes).await?;
    // Neither can show a block that proves it.
    let has_all = Arc::default();
    let urls = [pruned(&workshop, between, &has_all).await?, pruned(&workshop, between, &has_all).await?];
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://opened")]).await?;

    let node = all_heard(&workshop, &urls)?;
    run(&ChainRelay { node, ..relay(&workshop, &workshop.rpc_url)? }).await?;

    assert_nonces_agree(&workshop).await?;
    assert_done_once(&workshop, collection, &["ar://opened".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_sends_nothing_while_no_block_shows_who_used_what_all_nodes_say() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-unshown", 1).await?;
    let (artist, has_all) = (artists[0], Arc::default());
    let lanes: Vec<_> = workshop.lanes().iter().map(|(lane, _)| *lane).collect();
    // Opens them.
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let between = use_long_ago(&workshop, &lanes).await?;
    let urls = [pruned(&workshop, between, &has_all).await?, pruned(&workshop, between, &has_all).await?];
    let unshown = ChainRelay { node: all_heard(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://shown")]).await?[0];

    run(&unshown).await?;

    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Queued);
    for lane in &lanes {
        assert_eq!(nonces(&workshop, *lane).await?, (0, 1));
    }
    has_all.store(true, Relaxed);
    run(&unshown).await?;
    assert_nonces_agree(&workshop).await?;
    assert_done_once(&workshop, collection, &["ar://shown".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_whose_receipt_lags_is_not_taken_for_displaced() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lag", 1).await?;
    let (lags, searched) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (is_lagging, counter) = (Arc::clone(&lags), Arc::clone(&searched));
    // One backend has the receipt and the nonce, the other one lags.
    let url = proxy::start(&workshop.rpc_url, move |request| match &*request.operation {
        "eth_getTransactionReceipt" if is_lagging.load(Relaxed) => Act::Old,
        // A whole block is read only to see who used a nonce.
        "eth_getBlockByNumber" if request.body["params"][1] == true => {
            counter.fetch_add(1, Relaxed);
            Act::Forward
        }
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://lagging")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    until("doubted", async || Ok(searched.load(Relaxed) >= 3)).await?;
    lags.store(false, Relaxed);

    let report = running.done().await?;

    assert_eq!((report.batches, report.ended), (1, 1));
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://lagging".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_nonces_are_filled() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-gap", 1).await?;
    let (store, chain) = (workshop.transactions(), workshop.chain.id);
    let lease = store.acquire_lease(chain, "before").await?.ok_or("no lead")?;
    for (lane, _) in workshop.lanes() {
        assert!(store.open_lane(&lease, (*lane).into(), 2).await?);
    }
    store.release_lease(&lease).await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://after")]).await?[0];

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    let batch = transaction(&workshop, &artists[0], id).await?.batch.ok_or("no batch")?;
    assert_eq!((batch.nonce, nonces(&workshop, batch.lane.into()).await?), (2, (3, 3)));
    assert_done_once(&workshop, collection, &["ar://after".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_that_the_operator_safe_lacks_sends_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-stranger", 2).await?;
    let (stranger, _) = workshop.lanes()[0];
    until_mined(&workshop, disown(&workshop, stranger).await?).await?;
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://0")]).await?;
    queue(&workshop, &artists[1], vec![renaming(collection, "ar://1")]).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!(nonces(&workshop, stranger).await?, (0, 0));
    assert_done_once(&workshop, collection, &["ar://0".to_owned(), "ar://1".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_replaced_while_its_batch_is_under_way_fails_no_transaction() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-replaced", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://kept")]).await?[0];
    let mut running = spawn(relay(&workshop, &workshop.rpc_url)?);
    let batch = until_sent(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    disown(&workshop, batch.lane.into()).await?;
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;

    running.done().await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
    assert_ne!(row.batch.map(|batch| batch.lane), Some(batch.lane));
    assert_done_once(&workshop, collection, &["ar://kept".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_of_a_lane_that_left_the_configuration_is_not_repeated() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-former", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://former")]).await?[0];
    let first = spawn(relay(&workshop, &workshop.rpc_url)?);
    let sent = until_sent(&workshop, &artist, id).await?;
    until_pooled(&workshop, &sent).await?;
    let former = sent.batch.ok_or("no batch")?.lane;
    first.kill().await?;

    let others = workshop.signers.iter().filter(|signer| signer.address() != Address::from(former)).cloned().collect();
    let mut second = relay(&workshop, &workshop.rpc_url)?;
    second.signers = LaneSigners::new(others);
    second.times.lease = SHORT;
    let mut second = spawn(second);
    let before = epoch(&workshop).await?;
    until("led", async || Ok(epoch(&workshop).await? > before)).await?;
    node.anvil_mine(Some(1), None).await?;

    assert_eq!(second.done().await?.signatures, 0);
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://former".to_owned()]).await
}
