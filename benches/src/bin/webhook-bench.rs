//! Measures how soon a webhook's receiver is told of a block, over the stack's real processes, with workers on an account's
//! schedule (`KEEP_SCHEDULE=1 local bench`) and a block every two seconds.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use alloy::{
    primitives::{Address, keccak256},
    providers::{Provider, ext::AnvilApi},
};
use axum::{Router, body::Bytes, extract::State};
use futures::future::join_all;
use local::Error;
use serde_json::{Value, json};
use tests::{Answer, Stack};

const SECONDS_A_BLOCK: u64 = 2;
/// Accounts that collect side by side, each so many times.
const BUYERS: usize = 3;
const COLLECTS: usize = 50;
const BALANCE: u64 = 1_000_000_000_000_000_000;
const POLL: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(150);

/// When the transactions' events came, by hash.
type Came = Arc<Mutex<HashMap<String, Instant>>>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (stack, came) = (Stack::connect(), Came::default());
    let writer = stack.new_collector().await;
    let webhook = json!({"url": receive(Arc::clone(&came)).await?, "types": ["moment.collected"]});
    Answer::of(stack.post("/webhooks").bearer_auth(&writer.artist.token).json(&webhook)).await.expect_success();
    let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let collection = stack.publish(&writer.key, sale, json!({})).await;
    let buyers: Vec<_> = (0..BUYERS).map(|number| Address::from_word(keccak256([number as u8; 32]))).collect();
    for buyer in &buyers {
        stack.chain().anvil_impersonate_account(*buyer).await?;
        stack.set_balance(*buyer, BALANCE).await;
    }
    stack.chain().anvil_set_auto_mine(false).await?;
    stack.chain().anvil_set_interval_mining(SECONDS_A_BLOCK).await?;
    let mined = Mutex::new(HashMap::new());
    let collect = async |buyer: &Address| {
        for _ in 0..COLLECTS {
            let receipt = stack.collect(collection, *buyer, "").await;
            let block = receipt.block_number.unwrap_or_default();
            mined.lock().unwrap_or_else(PoisonError::into_inner).insert(receipt.transaction_hash.to_string(), block);
        }
    };
    let collecting = async {
        join_all(buyers.iter().map(collect)).await;
        let end = Instant::now() + PATIENCE;
        while came.lock().unwrap_or_else(PoisonError::into_inner).len() < BUYERS * COLLECTS && Instant::now() < end {
            tokio::time::sleep(POLL).await;
        }
    };
    let blocks = Mutex::new(HashMap::new());
    tokio::select! {
        watched = watch(&stack, &blocks) => watched?,
        () = collecting => {}
    }
    stack.chain().anvil_set_interval_mining(0).await?;
    stack.chain().anvil_set_auto_mine(true).await?;
    let came = came.lock().unwrap_or_else(PoisonError::into_inner);
    let blocks = blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut times = Vec::new();
    for (hash, block) in mined.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let (came, seen) = (came.get(&hash), blocks.get(&block));
        let (came, seen) = came.zip(seen).ok_or_else(|| format!("nobody was told of {hash} in block {block}"))?;
        times.push(came.saturating_duration_since(*seen));
    }
    times.sort();
    let at =
        |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).map_or(0.0, Duration::as_secs_f64);
    println!("| seconds from a block until a webhook's receiver has its event | p50 | p90 | p99 | samples |");
    println!("| --- | --- | --- | --- | --- |");
    println!("| blocks every 2 s | {:.2} | {:.2} | {:.2} | {} |", at(50), at(90), at(99), times.len());
    Ok(())
}

/// Notes when each block is there.
async fn watch(stack: &Stack, blocks: &Mutex<HashMap<u64, Instant>>) -> Result<(), Error> {
    let node = stack.chain();
    let mut last = node.get_block_number().await?;
    loop {
        let now = node.get_block_number().await?;
        for block in last + 1..=now {
            blocks.lock().unwrap_or_else(PoisonError::into_inner).insert(block, Instant::now());
        }
        last = now;
        tokio::time::sleep(POLL).await;
    }
}

/// Starts a receiver, and returns its URL.
async fn receive(came: Came) -> Result<String, Error> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let note = async |State(came): State<Came>, body: Bytes| {
        if let Some(answer) = local::receiver::answer(&body) {
            return answer;
        }
        let event: Value = serde_json::from_slice(&body).unwrap_or_default();
        let hash = event["data"]["transaction_hash"].as_str().unwrap_or_default().to_owned();
        came.lock().unwrap_or_else(PoisonError::into_inner).insert(hash, Instant::now());
        String::new()
    };
    tokio::spawn(axum::serve(listener, Router::new().fallback(note).with_state(came)).into_future());
    Ok(url)
}
