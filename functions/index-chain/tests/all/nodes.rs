//! Nodes that can't be relied on: the index is whole all the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use serde_json::{Value, json};
use tests::{
    Error, Ground,
    history::{Dice, History},
};
use tokio::net::TcpListener;

use crate::support::Indexer;

/// How a node misbehaves.
#[derive(Clone, Copy, Debug)]
enum Vice {
    /// Gives logs of so many blocks at a time.
    FewBlocks(u64),
    /// Gives so many logs at a time.
    FewLogs(usize),
    /// Fails every third question, or never answers it.
    Silent,
    /// Every fourth answer is of a node that lacks the newest blocks, and says nothing of that with logs.
    Lagging(u64),
}

#[derive(Clone)]
struct Bad {
    vice: Vice,
    upstream: String,
    client: reqwest::Client,
    turn: Arc<AtomicU64>,
    /// The newest block, as the lagging node would have it at best.
    newest: Arc<AtomicU64>,
}

impl Bad {
    async fn ask(&self, body: &Value) -> Option<Value> {
        let call = self.client.post(&self.upstream).header("content-type", "application/json").body(body.to_string());
        serde_json::from_str(&call.send().await.ok()?.text().await.ok()?).ok()
    }
}

fn quantity(value: &Value) -> u64 {
    value.as_str().and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()).unwrap_or_default()
}

async fn misbehave(State(bad): State<Bad>, body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refuse = |message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32005, "message": message}});
        (StatusCode::OK, error.to_string())
    };
    let turn = bad.turn.fetch_add(1, Ordering::Relaxed);
    let filter = &request["params"][0];
    let is_logs = request["method"] == "eth_getLogs";
    let Some(mut answer) = bad.ask(&request).await else { return (StatusCode::BAD_GATEWAY, String::new()) };
    match bad.vice {
        Vice::FewBlocks(most)
            if is_logs && quantity(&filter["toBlock"]).saturating_sub(quantity(&filter["fromBlock"])) >= most =>
        {
            return refuse("query exceeds max block range");
        }
        Vice::FewLogs(most) if is_logs && answer["result"].as_array().is_some_and(|logs| logs.len() > most) => {
            return refuse("query returned more than the allowed results");
        }
        Vice::Silent if Dice::at(turn).roll(3) == 0 => match turn % 3 {
            0 => return refuse("internal error"),
            1 => return (StatusCode::OK, String::new()),
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        },
        Vice::Lagging(behind) if Dice::at(turn).roll(4) == 0 => {
            let newest = bad.newest.load(Ordering::Relaxed).saturating_sub(behind);
            match request["method"].as_str().unwrap_or_default() {
                "eth_blockNumber" => answer["result"] = json!(format!("{newest:#x}")),
                "eth_getBlockByNumber" if quantity(&request["params"][0]) > newest => answer["result"] = Value::Null,
                "eth_getLogs" if !filter["blockHash"].is_null() => {
                    let of = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByHash", "params": [filter["blockHash"], false]});
                    let block = bad.ask(&of).await.unwrap_or_default();
                    if quantity(&block["result"]["number"]) > newest {
                        return refuse("unknown block");
                    }
                }
                "eth_getLogs" => {
                    let logs = answer["result"].as_array().cloned().unwrap_or_default();
                    let has = |log: &Value| quantity(&log["blockNumber"]) <= newest;
                    answer["result"] = logs.into_iter().filter(has).collect();
                }
                _ => {}
            }
        }
        _ => {}
    }
    (StatusCode::OK, answer.to_string())
}

async fn indexed_through(vice: Vice, seed: u64) -> Result<(), Error> {
    let ground = Ground::start(&format!("bad-node-{seed}"), 16).await?;
    let mut history = History::on(&ground, seed).await?;
    let newest = Arc::new(AtomicU64::new(0));
    let upstream = ground.rpc_url.clone();
    let turn = Arc::default();
    let bad = Bad { vice, upstream, client: reqwest::Client::new(), turn, newest: newest.clone() };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = axum::serve(listener, Router::new().fallback(misbehave).with_state(bad));
    tokio::spawn(async move { server.await });
    let mut indexer = Indexer::of(&ground, &[&url]).await?;
    for _ in 0..4 {
        history.go_on(20).await?;
        let head = alloy::providers::Provider::get_block_number(&ground.node).await?;
        newest.store(head, Ordering::Relaxed);
        // A run may fail, but must not take for read what it didn't get.
        for _ in 0..200 {
            let followed = indexer.follow().await;
            if followed.is_ok_and(|followed| followed.next_block > head) {
                break;
            }
        }
        assert_eq!(indexer.rows().await?, Indexer::fresh_rows(&ground).await?, "{vice:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_gives_few_blocks_is_asked_for_few() -> Result<(), Error> {
    indexed_through(Vice::FewBlocks(3), 11).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_gives_few_logs_is_asked_for_few() -> Result<(), Error> {
    indexed_through(Vice::FewLogs(40), 12).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_silent_node_did_not_give_is_not_taken_for_read() -> Result<(), Error> {
    indexed_through(Vice::Silent, 13).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_lagging_node_left_out_is_not_taken_for_read() -> Result<(), Error> {
    indexed_through(Vice::Lagging(6), 14).await
}
