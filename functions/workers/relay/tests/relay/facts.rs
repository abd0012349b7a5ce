//! What nodes say of transactions before they are sent: late, or not at all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::{
    primitives::{Address, B256, Bytes},
    providers::ext::AnvilApi,
    sol_types::SolCall,
};
use local::workshop::Workshop;
use relay::ChainRelay;
use serde_json::json;
use shared::{
    chain::{contracts::native::Creator1155, node::MULTICALL},
    model::{TransactionId, TransactionStatus},
    store::artist::Artist,
};

use crate::{
    proxy::{self, Act, Gate, Request},
    support::{
        Error, queue, relay, relay_behind, renaming, run, spawn, stage, token_creation, transaction, until, until_more,
        until_pooled, until_sent,
    },
};

/// Whether a collection is asked for its next token, by a call of its own.
fn asks_for_next_token(request: &Request, collection: Address) -> bool {
    let (call, question) = (&request.body["params"][0], Creator1155::nextTokenIdCall {}.abi_encode());
    let has = |field: &str, value: &str| call[field].as_str().is_some_and(|own| own.eq_ignore_ascii_case(value));
    let is_asked = has("to", &collection.to_string()) && has("input", &alloy::hex::encode_prefixed(question));
    request.operation == "eth_call" && is_asked
}

/// A collection of these admins, on a chain where each is asked on its own.
async fn other_collection(workshop: &Workshop, admins: &[Artist]) -> Result<Address, Error> {
    workshop.node().await?.anvil_set_code(MULTICALL, Bytes::new()).await?;
    workshop.collection(admins).await
}

/// A relay whose turns wait for no answer, however late it comes.
fn impatient(workshop: &Workshop, url: &str) -> Result<ChainRelay, Error> {
    let mut relay = relay(workshop, url)?;
    relay.times.facts = Duration::ZERO;
    Ok(relay)
}

async fn status(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<TransactionStatus, Error> {
    Ok(transaction(workshop, artist, id).await?.status)
}

async fn until_done(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<(), Error> {
    until("mined", async || Ok(status(workshop, artist, id).await? == TransactionStatus::Mined)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_of_a_draft_that_waits_are_read_once_a_block() -> Result<(), Error> {
    const TURNS: usize = 12;
    let (workshop, artists, collection) = stage("relay-facts-kept", 3).await?;
    let node = workshop.node().await?;
    let question = alloy::hex::encode(Creator1155::nextTokenIdCall::SELECTOR);
    let counters: [Arc<AtomicUsize>; 3] = Default::default();
    let [tokens, accounts, balances] = counters.clone();
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let is_asked = || request.body["params"][0]["input"].as_str().is_some_and(|input| input.contains(&question));
        let counter = match &*request.operation {
            "eth_call" if is_asked() => Some(&tokens),
            "eth_getCode" => Some(&accounts),
            "eth_getBalance" => Some(&balances),
            _ => None,
        };
        if let Some(counter) = counter {
            counter.fetch_add(1, Relaxed);
        }
        Act::Forward
    })
    .await?;
    let [tokens, accounts, balances] = counters;
    node.anvil_set_auto_mine(false).await?;
    let sent = queue(&workshop, &artists[0], vec![renaming(collection, "ar://first-lane")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    until_pooled(&workshop, &until_sent(&workshop, &artists[0], sent).await?).await?;
    let sent = queue(&workshop, &artists[1], vec![renaming(collection, "ar://second-lane")]).await?[0];
    until_pooled(&workshop, &until_sent(&workshop, &artists[1], sent).await?).await?;

    // Each lane has a batch under way, and no block comes.
    let waiting = token_creation(&artists[2], collection, "ar://waits")?;
    let waiting = queue(&workshop, &artists[2], vec![waiting]).await?[0];
    until("asked", async || Ok(tokens.load(Relaxed) > 0)).await?;
    until_more(&balances, TURNS * workshop.lanes().len()).await?;

    assert_eq!(status(&workshop, &artists[2], waiting).await?, TransactionStatus::Queued);
    assert_eq!((tokens.load(Relaxed), accounts.load(Relaxed)), (1, artists.len()));
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;
    running.done().await?;
    assert_eq!(status(&workshop, &artists[2], waiting).await?, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fact_that_fails_holds_its_transaction_alone() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-fact-fails", 2).await?;
    let other = other_collection(&workshop, &artists).await?;
    let fails = Arc::new(AtomicBool::new(true));
    let failing = Arc::clone(&fails);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let is_failing = failing.load(Relaxed) && asks_for_next_token(request, collection);
        if is_failing { Act::Answer(500, "internal server error".to_owned()) } else { Act::Forward }
    })
    .await?;
    let create = |artist: &Artist, collection| token_creation(artist, collection, "ar://created");
    let held = [create(&artists[0], collection)?, renaming(other, "ar://later")];
    let held = queue(&workshop, &artists[0], held.into()).await?;
    let done = queue(&workshop, &artists[1], vec![create(&artists[1], other)?]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);

    until_done(&workshop, &artists[1], done).await?;

    for id in &held {
        assert_eq!(status(&workshop, &artists[0], *id).await?, TransactionStatus::Queued);
    }
    fails.store(false, Relaxed);
    running.done().await?;
    for id in held {
        assert_eq!(status(&workshop, &artists[0], id).await?, TransactionStatus::Mined);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_are_read_although_the_first_node_names_a_block_that_no_other_has() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-facts-forked", 1).await?;
    let relay = relay_behind(&workshop, |request| {
        let is_head = request.operation == "eth_getBlockByNumber" && request.body["params"][0] == "latest";
        if is_head { Act::add("hash", json!(B256::repeat_byte(0x22))) } else { Act::Forward }
    })
    .await?;
    let id = queue(&workshop, &artists[0], vec![token_creation(&artists[0], collection, "ar://forked")?]).await?[0];

    run(&relay).await?;

    assert_eq!(status(&workshop, &artists[0], id).await?, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn late_fact_is_taken_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-fact-late", 2).await?;
    let other = other_collection(&workshop, &artists).await?;
    let (gate, asked) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (late, counter) = (gate.clone(), Arc::clone(&asked));
    let url = proxy::start(&workshop.rpc_url, move |request| {
        if !asks_for_next_token(request, collection) {
            return Act::Forward;
        }
        counter.fetch_add(1, Relaxed);
        Act::Wait(late.clone())
    })
    .await?;
    let held = queue(&workshop, &artists[0], vec![token_creation(&artists[0], collection, "ar://late")?]).await?[0];
    let done = queue(&workshop, &artists[1], vec![token_creation(&artists[1], other, "ar://done")?]).await?[0];
    let mut running = spawn(impatient(&workshop, &url)?);
    until_done(&workshop, &artists[1], done).await?;
    assert_eq!(status(&workshop, &artists[0], held).await?, TransactionStatus::Queued);

    // It is of the block before the newest one by now.
    gate.open();

    running.done().await?;
    assert_eq!(status(&workshop, &artists[0], held).await?, TransactionStatus::Mined);
    assert_eq!(asked.load(Relaxed), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fact_that_is_always_late_holds_nobody_else_and_ends() -> Result<(), Error> {
    const ROUNDS: usize = 3;
    let (workshop, artists, collection) = stage("relay-fact-always-late", 2).await?;
    let (node, other) = (workshop.node().await?, other_collection(&workshop, &artists).await?);
    let gates: [Gate; ROUNDS] = Default::default();
    let counters: [Arc<AtomicUsize>; 2] = Default::default();
    let (late, [asked, heads]) = (gates.clone(), counters.clone());
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let is_head = request.operation == "eth_getBlockByNumber" && request.body["params"][0] == "latest";
        heads.fetch_add(usize::from(is_head), Relaxed);
        if !asks_for_next_token(request, collection) {
            return Act::Forward;
        }
        let round = asked.fetch_add(1, Relaxed);
        late.get(round).map_or(Act::Forward, |gate| Act::Wait(gate.clone()))
    })
    .await?;
    let [asked, heads] = counters;
    let id = queue(&workshop, &artists[0], vec![token_creation(&artists[0], collection, "ar://late")?]).await?[0];
    let mut running = spawn(impatient(&workshop, &url)?);

    for (round, gate) in gates.iter().enumerate() {
        until("asked", async || Ok(asked.load(Relaxed) > round)).await?;
        let done = queue(&workshop, &artists[1], vec![renaming(other, &format!("ar://{round}"))]).await?[0];
        until_done(&workshop, &artists[1], done).await?;
        assert_eq!(status(&workshop, &artists[0], id).await?, TransactionStatus::Queued);
        node.anvil_mine(Some(2), None).await?;
        // It answers once the relay knows that two more blocks are there.
        until_more(&heads, 2).await?;
        gate.open();
    }

    running.done().await?;
    assert_eq!(status(&workshop, &artists[0], id).await?, TransactionStatus::Mined);
    assert_eq!(asked.load(Relaxed), ROUNDS);
    Ok(())
}
