//! Transactions that nodes or accounts refuse, alone or with others.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use alloy::{
    primitives::{Address, B256, U256},
    providers::ext::AnvilApi,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::workshop::Workshop;
use relay::ChainRelay;
use serde_json::{Value, json};
use shared::{
    clock,
    model::TransactionStatus,
    store::artist::{BatchReference, BatchStatus, Ending, Requeue, Slot},
};

use crate::{
    proxy::{self, Act, Request},
    support::{
        Error, FOREVER, answer_always, assert_done_once, batch_of, forgetful, nodes, queue, relay, renaming, run,
        spawn, stage, take_account, transaction, unsent_failure, until, until_mined, until_more, until_sent,
    },
};

/// Refuses the first transaction that is sent, whatever comes later.
fn refuse_first() -> impl Fn(&Request) -> Act + Send + Sync + 'static {
    let first = OnceLock::new();
    move |request| match request.operation.as_str() {
        "eth_sendRawTransaction" if *first.get_or_init(|| request.body["params"].clone()) == request.body["params"] => {
            Act::Refuse("exceeds block gas limit")
        }
        _ => Act::Forward,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_batch_is_replaced_by_a_noop_and_split() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-refused-batch", 4).await?;
    let url = proxy::start(&workshop.rpc_url, refuse_first()).await?;
    let mut expected = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        expected.push(format!("ar://{index}"));
        queue(&workshop, artist, vec![renaming(collection, &expected[index])]).await?;
    }

    let report = run(&relay(&workshop, &url)?).await?;

    assert_eq!((report.ended, report.batches), (4, 3));
    assert_done_once(&workshop, collection, &expected).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lone_refused_transaction_ends_as_not_done() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-refused-one", 1).await?;
    let (artist, store) = (artists[0], workshop.transactions());
    let url = proxy::start(&workshop.rpc_url, refuse_first()).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://refused")]).await?[0];

    run(&relay(&workshop, &url)?).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!(row.status, TransactionStatus::Reverted);
    let batch = row.batch.ok_or("no batch")?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    assert_eq!(store.batch(&slot).await?.map(|batch| batch.status), Some(BatchStatus::Filled));
    // As after a crash just before the batch was closed.
    let again = Ending { batch: row.batch, ..unsent_failure() };
    assert!(!store.end(&row, &again, row.updated_at).await?);
    assert_eq!(transaction(&workshop, &artist, id).await?, row);
    assert_done_once(&workshop, collection, &[]).await
}

/// A node that says that it has what it is sent, and forgets it.
async fn swallowing(workshop: &Workshop) -> Result<String, Error> {
    let swallows = |request: &Request| match &*request.operation {
        "eth_sendRawTransaction" => request.swallow(),
        _ => Act::Forward,
    };
    proxy::start(&workshop.rpc_url, swallows).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lone_transaction_that_only_a_swallowing_node_takes_ends_as_not_done() -> Result<(), Error> {
    /// Fewer than a batch has, and more than a no-op.
    const SIGNED: usize = 600;
    let (workshop, artists, collection) = stage("relay-swallowed", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let refusing = proxy::start(&workshop.rpc_url, |request| {
        let is_batch = request.body["params"][0].as_str().is_some_and(|signed| signed.len() > SIGNED);
        let is_refused = request.operation == "eth_sendRawTransaction" && is_batch;
        if is_refused { Act::Refuse("exceeds block gas limit") } else { Act::Forward }
    })
    .await?;
    let alone = relay(&workshop, &workshop.rpc_url)?;
    let relay = ChainRelay { node: nodes(&workshop, &[swallowing(&workshop).await?, refusing])?, ..alone };
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://swallowed")]).await?[0];
    let mut running = spawn(relay);

    until("ended", async || {
        node.anvil_mine(Some(1), None).await?;
        Ok(transaction(&workshop, &artist, id).await?.status.is_final())
    })
    .await?;

    running.done().await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!(row.status, TransactionStatus::Reverted);
    assert_eq!(batch_of(&workshop, &row).await?.map(|batch| batch.status), Some(BatchStatus::Filled));
    assert_done_once(&workshop, collection, &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_nonce_behind_a_swallowing_node_is_found() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-hidden-nonce", 1).await?;
    let artist = artists[0];
    let (second, forgets) = forgetful(&workshop).await?;
    let alone = relay(&workshop, &workshop.rpc_url)?;
    let relay = ChainRelay { node: nodes(&workshop, &[swallowing(&workshop).await?, second])?, ..alone };
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://moved")]).await?[0];
    let mut running = spawn(relay);
    let sent = until_sent(&workshop, &artist, id).await?;
    let other = workshop.use_lane(sent.batch.ok_or("no batch")?.lane.into()).await?;
    until_mined(&workshop, other).await?;
    forgets.store(false, Relaxed);

    running.done().await?;

    assert_eq!(batch_of(&workshop, &sent).await?.map(|batch| batch.status), Some(BatchStatus::Displaced));
    assert_done_once(&workshop, collection, &["ar://moved".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn poor_lane_behind_a_swallowing_node_raises_no_fee() -> Result<(), Error> {
    const ORACLE: Address = Address::repeat_byte(0x0f);
    const BALANCE: u64 = 1_000_000_000_000_000_000;
    /// After which fees are raised.
    const BLOCKS: u64 = 10;
    let (workshop, artists, collection) = stage("relay-hidden-poverty", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::from(BALANCE)).await?;
    }
    let (is_dear, refused) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (dear, counter) = (Arc::clone(&is_dear), Arc::clone(&refused));
    let demanding = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation != "eth_sendRawTransaction" || !dear.load(Relaxed) {
            return Act::Forward;
        }
        counter.fetch_add(1, Relaxed);
        Act::Refuse("insufficient funds for gas * price + value: balance 1, tx cost 2")
    })
    .await?;
    answer_always(&node, ORACLE, 1).await?;
    let alone = relay(&workshop, &workshop.rpc_url)?;
    let mut relay = ChainRelay { node: nodes(&workshop, &[swallowing(&workshop).await?, demanding])?, ..alone };
    relay.chain.spending.l1_fee_oracle = Some(ORACLE);
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://dear-data")]).await?[0];
    let mut running = spawn(relay);
    until_sent(&workshop, &artist, id).await?;

    // What it owes by now is more than it has.
    answer_always(&node, ORACLE, BALANCE).await?;
    until_more(&refused, 6).await?;
    node.anvil_mine(Some(BLOCKS), None).await?;
    until_more(&refused, 6).await?;

    is_dear.store(false, Relaxed);
    assert_eq!(running.done().await?.bumped, 0);
    assert_eq!(transaction(&workshop, &artist, id).await?.hashes.len(), 1);
    assert_done_once(&workshop, collection, &["ar://dear-data".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn account_of_another_owner_fails_alone() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-taken", 5).await?;
    for artist in &artists {
        queue(&workshop, artist, vec![renaming(collection, "ar://before")]).await?;
    }
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    take_account(&workshop, &artists[2]).await?;
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        ids.extend(queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?);
    }

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    for (index, (artist, id)) in artists.iter().zip(ids).enumerate() {
        let status = transaction(&workshop, artist, id).await?.status;
        let expected = if index == 2 { TransactionStatus::Failed } else { TransactionStatus::Mined };
        assert_eq!(status, expected, "artist {index}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_that_reverts_on_the_chain_is_split() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-reverts", 5).await?;
    for artist in &artists {
        queue(&workshop, artist, vec![renaming(collection, "ar://before")]).await?;
    }
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    take_account(&workshop, &artists[2]).await?;
    // The node doesn't foresee it.
    let safe = format!("{:#x}", workshop.operator.safe);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let call: &Value = &request.body["params"][0];
        let is_batch = request.operation == "eth_call" && call["to"] == safe && call["from"].is_string();
        if is_batch { Act::Say(json!(format!("0x{:064x}", 1))) } else { Act::Forward }
    })
    .await?;
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        ids.extend(queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?);
    }

    let report = run(&relay(&workshop, &url)?).await?;

    assert!(report.batches > 1);
    for (index, (artist, id)) in artists.iter().zip(ids).enumerate() {
        let status = transaction(&workshop, artist, id).await?.status;
        let expected = if index == 2 { TransactionStatus::Reverted } else { TransactionStatus::Mined };
        assert_eq!(status, expected, "artist {index}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn node_of_another_chain_gets_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-other-chain", 1).await?;
    let sent = std::sync::Arc::new(Mutex::new(0));
    let count = std::sync::Arc::clone(&sent);
    let other = proxy::start(&workshop.rpc_url, move |request| match request.operation.as_str() {
        "eth_chainId" => Act::Say(json!("0x1")),
        "eth_sendRawTransaction" => {
            *count.lock().unwrap() += 1;
            Act::Forward
        }
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://other")]).await?[0];

    // As the only node, and behind one that is the chain's.
    for urls in [vec![other.clone()], vec![workshop.rpc_url.clone(), other]] {
        let relay = ChainRelay { node: nodes(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
        // Once.
        let stopped = relay.run(Instant::now()).await.unwrap_err();
        assert!(stopped.to_string().contains("another chain"), "{stopped}");
    }
    assert_eq!(*sent.lock().unwrap(), 0);
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Queued);
    Ok(())
}

/// A node that says that batches would revert, so many times.
async fn doubting(workshop: &Workshop, times: usize) -> Result<String, Error> {
    let (safe, asked) = (format!("{:#x}", workshop.operator.safe), AtomicUsize::new(0));
    let doubts = move |request: &Request| {
        let call: &Value = &request.body["params"][0];
        let is_batch = request.operation == "eth_call" && call["to"] == safe && call["from"].is_string();
        let is_doubted = is_batch && asked.fetch_add(1, Relaxed) < times;
        if is_doubted { Act::Refuse("execution reverted") } else { Act::Forward }
    };
    proxy::start(&workshop.rpc_url, doubts).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lone_transaction_that_one_of_two_nodes_rejects_is_mined() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-disputed", 1).await?;
    let urls = [doubting(&workshop, usize::MAX).await?, workshop.rpc_url.clone()];
    let relay = ChainRelay { node: nodes(&workshop, &urls)?, ..relay(&workshop, &workshop.rpc_url)? };
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://disputed")]).await?;

    run(&relay).await?;

    assert_done_once(&workshop, collection, &["ar://disputed".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lone_transaction_rejected_for_a_moment_is_mined() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-doubted", 1).await?;
    // It is asked twice each time.
    let mut relay = relay(&workshop, &doubting(&workshop, 4).await?)?;
    relay.times.grace = FOREVER;
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://doubted")]).await?;

    run(&relay).await?;

    assert_done_once(&workshop, collection, &["ar://doubted".to_owned()]).await
}

/// Sets or removes an attribute of a row that is there, as somebody may who has taken over another function.
async fn rewrite(
    workshop: &Workshop,
    (pk, sk): (String, String),
    name: &str,
    value: Option<&str>,
) -> Result<(), Error> {
    let update = aws_sdk_dynamodb::Client::new(&workshop.dynamodb).update_item().table_name("ArtistTable");
    let update = update.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
    let update = update.condition_expression("attribute_exists(#name)").expression_attribute_names("#name", name);
    let update = match value {
        Some(value) => update
            .update_expression("SET #name = :value")
            .expression_attribute_values(":value", AttributeValue::S(value.to_owned())),
        None => update.update_expression("REMOVE #name"),
    };
    update.send().await?;
    Ok(())
}

/// Has the queue name a transaction again, at a later place.
async fn queue_again(workshop: &Workshop, pk: String, place: String) -> Result<(), Error> {
    let client = aws_sdk_dynamodb::Client::new(&workshop.dynamodb);
    let again = AttributeValue::S(format!("{place}#again"));
    let found = client.get_item().table_name("ArtistTable").key("pk", AttributeValue::S(pk));
    let mut row = found.key("sk", AttributeValue::S(place)).send().await?.item.ok_or("nothing is queued there")?;
    row.insert("sk".to_owned(), again);
    client.put_item().table_name("ArtistTable").set_item(Some(row)).send().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_that_is_not_the_one_that_was_queued_is_never_signed() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-rewritten", 4).await?;
    let (store, now) = (workshop.transactions(), clock::now()?.as_secs());
    let other = serde_json::to_string(&renaming(collection, "ar://rewritten").plan)?;
    let (mut ids, mut rows) = (Vec::new(), Vec::new());
    for (index, artist) in artists.iter().enumerate() {
        let id = queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?[0];
        ids.push(id);
        rows.push((format!("TRANSACTIONS#{}", artist.artist_id), id.to_string()));
    }
    rewrite(&workshop, rows[0].clone(), "plan", Some(&other)).await?;
    // One that a batch had and gave back meanwhile.
    let batch = BatchReference { lane: workshop.lanes()[0].0.into(), nonce: 0 };
    let queued = transaction(&workshop, &artists[1], ids[1]).await?;
    assert!(store.mark_sent(&queued, batch, B256::repeat_byte(1), now).await?);
    rewrite(&workshop, rows[1].clone(), "plan", Some(&other)).await?;
    let sent = transaction(&workshop, &artists[1], ids[1]).await?;
    assert!(store.requeue(&sent, Requeue { attempt: Some((batch, 0)), ..Requeue::default() }, now).await?);
    // One whose row in the queue says nothing of its plan.
    let of_plain = format!("QUEUE#{}#PLAIN", workshop.chain.id);
    let place = transaction(&workshop, &artists[2], ids[2]).await?.place;
    rewrite(&workshop, (of_plain.clone(), place), "plan_hash", None).await?;
    queue_again(&workshop, of_plain, transaction(&workshop, &artists[3], ids[3]).await?.place).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    let ended = [TransactionStatus::Failed, TransactionStatus::Reverted, TransactionStatus::Failed];
    for (index, status) in ended.into_iter().enumerate() {
        let row = transaction(&workshop, &artists[index], ids[index]).await?;
        assert_eq!((row.status, row.mined), (status, None));
        assert!(row.reason.is_some_and(|reason| reason.contains("policy")), "{index}");
    }
    assert_done_once(&workshop, collection, &["ar://3".to_owned()]).await
}
