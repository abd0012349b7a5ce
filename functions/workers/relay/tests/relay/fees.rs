use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
};
use serde_json::json;
use shared::{model::TransactionStatus, store::artist::Slot};

use crate::{
    common::money::lanes_wei,
    proxy::{self, Act},
    support::{
        Error, answer_always, assert_charged, assert_done_once, batch_of, counting, counting_if, nonces, queue, relay,
        relay_behind, renaming, run, spawn, stage, transaction, until, until_more, until_pooled, until_sent,
    },
};

/// Stands in for the contract that knows the fee for data.
const ORACLE: Address = Address::repeat_byte(0x0f);
/// Wei of a lane that is to be poor.
const BALANCE: u64 = 1_000_000_000_000_000_000;

fn asks_oracle(request: &proxy::Request) -> bool {
    request.operation == "eth_call" && request.body.to_string().contains(&format!("{ORACLE:x}"))
}

/// The base fee of a block now, and of the next one.
async fn set_base_fee(node: &RootProvider, wei: u128) -> Result<(), Error> {
    node.anvil_set_next_block_base_fee_per_gas(wei).await?;
    node.anvil_mine(Some(1), None).await?;
    Ok(node.anvil_set_next_block_base_fee_per_gas(wei).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn base_fee_above_a_batchs_fees_raises_them() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-dear", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 100_000_000).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://dear")]).await?[0];
    let mut running = spawn(relay(&workshop, &workshop.rpc_url)?);
    let batch = batch_of(&workshop, &until_sent(&workshop, &artist, id).await?).await?.ok_or("no batch")?;
    let offered = u128::from(batch.attempts[0].fees.max_fee_per_gas);

    set_base_fee(&node, offered * 3 / 2).await?;
    until("raised", async || Ok(transaction(&workshop, &artist, id).await?.hashes.len() == 2)).await?;
    until_pooled(&workshop, &transaction(&workshop, &artist, id).await?).await?;
    node.anvil_mine(Some(1), None).await?;

    assert_eq!(running.done().await?.bumped, 1);
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.mined.map(|mined| mined.hash)), (TransactionStatus::Mined, row.hashes.get(1).copied()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn base_fee_above_the_cap_delays_the_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cap", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 2 * u128::from(workshop.chain.spending.max_fee_per_gas)).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://cap")]).await?[0];

    let (url, fees) = counting(&workshop.rpc_url, "eth_feeHistory").await?;
    let mut running = spawn(relay(&workshop, &url)?);
    // Read for a batch, and again.
    until_more(&fees, 3).await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Queued);

    set_base_fee(&node, 1_000_000).await?;
    node.anvil_set_auto_mine(true).await?;
    let report = running.done().await?;
    assert_eq!((report.batches, report.signatures), (1, 1));
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_that_a_pool_keeps_to_itself_is_replaced_after_some_blocks() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-kept", 1).await?;
    let (node, artist, kept) = (workshop.node().await?, artists[0], OnceLock::new());
    let keeping = proxy::start(&workshop.rpc_url, move |request| match request.operation.as_str() {
        "eth_sendRawTransaction" if *kept.get_or_init(|| request.body["params"].clone()) == request.body["params"] => {
            Act::Refuse("already known")
        }
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://kept")]).await?[0];
    let mut running = spawn(relay(&workshop, &keeping)?);
    until_sent(&workshop, &artist, id).await?;

    until("mined", async || {
        node.anvil_mine(Some(1), None).await?;
        Ok(transaction(&workshop, &artist, id).await?.status == TransactionStatus::Mined)
    })
    .await?;
    assert_eq!(running.done().await?.bumped, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn node_that_calls_a_batch_underpriced_raises_no_fees_that_the_market_does_not_exceed() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-called-cheap", 1).await?;
    let (node, artist, sent) = (workshop.node().await?, artists[0], Arc::new(AtomicUsize::new(0)));
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 100_000_000).await?;
    let counter = Arc::clone(&sent);
    let relay = relay_behind(&workshop, move |request| {
        if request.operation != "eth_sendRawTransaction" {
            return Act::Forward;
        }
        counter.fetch_add(1, Relaxed);
        Act::Refuse("transaction underpriced")
    })
    .await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://cheap")]).await?[0];
    let mut running = spawn(relay);
    until_sent(&workshop, &artist, id).await?;

    // What was said before is known when it is sent again.
    until_more(&sent, 3).await?;

    node.anvil_mine(Some(1), None).await?;
    assert_eq!(running.done().await?.bumped, 0);
    assert_eq!(transaction(&workshop, &artist, id).await?.hashes.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fees_beside_the_gas_are_shared_among_a_batchs_transactions() -> Result<(), Error> {
    const FEE: u64 = 40_000_000_000_000;
    const OPERATOR_FEE: u64 = 3_000_000_000_000;
    let (workshop, artists, collection) = stage("relay-data", 2).await?;
    let url = proxy::start(&workshop.rpc_url, |request| match request.operation.as_str() {
        "eth_getTransactionReceipt" => Act::Change(Box::new(|receipt| {
            if receipt.is_object() {
                receipt["l1Fee"] = json!(format!("{FEE:#x}"));
                receipt["operatorFeeConstant"] = json!(format!("{OPERATOR_FEE:#x}"));
            }
        })),
        _ => Act::Forward,
    })
    .await?;
    // The same but for their lengths.
    let mut ids = Vec::new();
    for (artist, uri) in artists.iter().zip(["ar://short".to_owned(), format!("ar://{}", "long".repeat(400))]) {
        ids.push(queue(&workshop, artist, vec![renaming(collection, &uri)]).await?[0]);
    }
    run(&relay(&workshop, &url)?).await?;

    let (mut spent, mut batch) = (Vec::new(), None);
    for (artist, id) in artists.iter().zip(ids) {
        let row = transaction(&workshop, artist, id).await?;
        batch = row.batch;
        spent.push(row.charge.wei);
        let account =
            workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
        assert_eq!(account.spent, row.charge.wei);
    }
    let batch = batch.ok_or("no batch")?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    let hash = workshop.transactions().batch(&slot).await?.and_then(|batch| batch.mined).ok_or("not mined")?.hash;
    let receipt = workshop.node().await?.get_transaction_receipt(hash).await?.ok_or("no receipt")?;
    let cost = u64::try_from(u128::from(receipt.gas_used) * receipt.effective_gas_price)? + FEE + OPERATOR_FEE;
    assert_eq!(spent.iter().sum::<u64>(), cost);
    assert!(spent[1] - spent[0] > FEE / 4, "{spent:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_that_can_not_pay_for_data_sends_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-data-fee", 1).await?;
    let node = workshop.node().await?;
    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::from(BALANCE)).await?;
    }
    let (url, asked) = counting_if(&workshop.rpc_url, asks_oracle).await?;
    let mut relay = relay(&workshop, &url)?;
    relay.chain.spending.l1_fee_oracle = Some(ORACLE);
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://data")]).await?[0];

    answer_always(&node, ORACLE, BALANCE).await?;
    let mut running = spawn(relay);
    // Each lane once, and one again.
    until_more(&asked, workshop.lanes().len() + 1).await?;
    for (lane, _) in workshop.lanes() {
        assert_eq!(nonces(&workshop, *lane).await?, (0, 0));
    }

    answer_always(&node, ORACLE, BALANCE / 2).await?;
    let report = running.done().await?;
    assert_eq!((report.ended, report.signatures), (1, 1));
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lane_that_owes_for_data_raises_no_fees_before_it_can_pay() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-data-owed", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::from(BALANCE)).await?;
    }
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 100_000_000).await?;
    let counts = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let (counters, [asked, priced, sent]) = (Arc::clone(&counts), &*counts);
    let is_silent = Arc::new(AtomicBool::new(false));
    let silent = Arc::clone(&is_silent);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let [asked, priced, sent] = &*counters;
        asked.fetch_add(usize::from(asks_oracle(request)), Relaxed);
        priced.fetch_add(usize::from(request.operation == "eth_feeHistory"), Relaxed);
        sent.fetch_add(usize::from(request.operation == "eth_sendRawTransaction"), Relaxed);
        if asks_oracle(request) && silent.load(Relaxed) { Act::Refuse("missing trie node") } else { Act::Forward }
    })
    .await?;
    let mut relay = relay(&workshop, &url)?;
    relay.chain.spending.l1_fee_oracle = Some(ORACLE);
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://owed")]).await?[0];
    let mut running = spawn(relay);
    let row = until_sent(&workshop, &artist, id).await?;
    let attempts = async || Ok::<_, Error>(batch_of(&workshop, &row).await?.ok_or("no batch")?.attempts);
    let offered = u128::from(attempts().await?[0].fees.max_fee_per_gas);

    answer_always(&node, ORACLE, BALANCE).await?;
    // Two questions may have been under way; the next one is answered before another comes.
    until_more(asked, 4).await?;
    set_base_fee(&node, offered * 3 / 2).await?;
    // The second answer has the new base fee, and what is sent after it comes after a decision about it.
    until_more(priced, 2).await?;
    until_more(sent, 2).await?;
    assert_eq!(attempts().await?.len(), 1);

    // Without an answer it still owes what it did, and is seen to get money.
    is_silent.store(true, Relaxed);
    until_more(asked, 4).await?;
    until_more(sent, 2).await?;
    assert_eq!(attempts().await?.len(), 1);
    for (lane, _) in workshop.lanes() {
        node.anvil_set_balance(*lane, U256::from(BALANCE) * U256::from(2)).await?;
    }
    until("raised", async || Ok(transaction(&workshop, &artist, id).await?.hashes.len() == 2)).await?;
    until_pooled(&workshop, &transaction(&workshop, &artist, id).await?).await?;
    node.anvil_mine(Some(1), None).await?;
    assert_eq!(running.done().await?.bumped, 1);
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn large_batch_that_blocks_pass_over_is_sent_in_halves() -> Result<(), Error> {
    const COUNT: usize = 4;
    /// That pass over a batch until it gets higher fees.
    const BLOCKS: u64 = 10;
    let (workshop, artists, collection) = stage("relay-throttled", COUNT).await?;
    let node = workshop.node().await?;
    let (funds, mut expected, mut asked) = (lanes_wei(&workshop, &node).await?, Vec::new(), Vec::new());
    for (index, artist) in artists.iter().enumerate() {
        expected.push(format!("ar://before/{index}"));
        asked.push((*artist, queue(&workshop, artist, vec![renaming(collection, &expected[index])]).await?[0]));
    }
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    // How often each version of the batch was sent.
    let swallowed = Arc::new(Mutex::new(HashMap::<String, usize>::new()));
    let (largest, times) = (AtomicUsize::new(0), Arc::clone(&swallowed));
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if request.operation != "eth_sendRawTransaction" {
            return Act::Forward;
        }
        let signed = request.body["params"][0].as_str().unwrap_or_default();
        // Half of the first batch is small enough.
        if signed.len() * 4 <= largest.fetch_max(signed.len(), Relaxed).max(signed.len()) * 3 {
            return Act::Forward;
        }
        *times.lock().unwrap().entry(signed.to_owned()).or_default() += 1;
        request.swallow()
    })
    .await?;
    for (index, artist) in artists.iter().enumerate() {
        let uri = format!("ar://{index}");
        asked.push((*artist, queue(&workshop, artist, vec![renaming(collection, &uri)]).await?[0]));
        expected.push(uri);
    }
    let mut running = spawn(relay(&workshop, &url)?);
    // As it was at first, and raised twice. The relay counts blocks from the second time that it sends a version: the
    // third time shows that it has begun. The node mines at once what it gets, so that no block passes over a half.
    for version in 1..=3 {
        until("sent three times", async || {
            Ok(swallowed.lock().unwrap().values().filter(|times| **times >= 3).count() >= version)
        })
        .await?;
        node.anvil_mine(Some(BLOCKS), None).await?;
    }

    let report = running.done().await?;

    assert_eq!((report.ended, report.bumped), (COUNT, 2));
    // The no-op in place of the whole batch.
    assert!(assert_charged(&workshop, funds, &asked).await?.noops > 0);
    assert_done_once(&workshop, collection, &expected).await
}
