//! Unreliable nodes: the index is complete all the same.

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
    Error, TestChain,
    history::{Dice, History},
};
use tokio::net::TcpListener;

use crate::support::Indexer;

#[derive(Clone, Copy, Debug)]
enum NodeBehavior {
    /// Limits the range of blocks of a log query.
    FewBlocks(u64),
    /// Limits the number of logs of a query.
    FewLogs(usize),
    /// Every third answer is an error, empty or late.
    Failing,
    /// Every fourth answer lacks the newest blocks, for logs without an error.
    Lagging(u64),
}

#[derive(Clone)]
struct RpcProxy {
    behavior: NodeBehavior,
    upstream: String,
    client: reqwest::Client,
    turn: Arc<AtomicU64>,
    /// The chain's newest block.
    newest: Arc<AtomicU64>,
}

impl RpcProxy {
    async fn ask(&self, body: &Value) -> Option<Value> {
        let call = self.client.post(&self.upstream).header("content-type", "application/json").body(body.to_string());
        serde_json::from_str(&call.send().await.ok()?.text().await.ok()?).ok()
    }
}

fn quantity(value: &Value) -> u64 {
    value.as_str().and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()).unwrap_or_default()
}

async fn forward(State(proxy): State<RpcProxy>, body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refuse = |message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32005, "message": message}});
        (StatusCode::OK, error.to_string())
    };
    let turn = proxy.turn.fetch_add(1, Ordering::Relaxed);
    let filter = &request["params"][0];
    let is_logs = request["method"] == "eth_getLogs";
    let Some(mut answer) = proxy.ask(&request).await else { return (StatusCode::BAD_GATEWAY, String::new()) };
    match proxy.behavior {
        NodeBehavior::FewBlocks(most)
            if is_logs && quantity(&filter["toBlock"]).saturating_sub(quantity(&filter["fromBlock"])) >= most =>
        {
            return refuse("query exceeds max block range");
        }
        NodeBehavior::FewLogs(most) if is_logs && answer["result"].as_array().is_some_and(|logs| logs.len() > most) => {
            return refuse("query returned more than the allowed results");
        }
        NodeBehavior::Failing if Dice::at(turn).roll(3) == 0 => match turn % 3 {
            0 => return refuse("internal error"),
            1 => return (StatusCode::OK, String::new()),
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        },
        NodeBehavior::Lagging(behind) if Dice::at(turn).roll(4) == 0 => {
            let newest = proxy.newest.load(Ordering::Relaxed).saturating_sub(behind);
            match request["method"].as_str().unwrap_or_default() {
                "eth_blockNumber" => answer["result"] = json!(format!("{newest:#x}")),
                "eth_getBlockByNumber" if quantity(&request["params"][0]) > newest => answer["result"] = Value::Null,
                "eth_getLogs" if !filter["blockHash"].is_null() => {
                    let of = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByHash", "params": [filter["blockHash"], false]});
                    let block = proxy.ask(&of).await.unwrap_or_default();
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

async fn indexed_through(behavior: NodeBehavior, seed: u64) -> Result<(), Error> {
    let test_chain = TestChain::start(&format!("bad-node-{seed}"), 16).await?;
    let mut history = History::on(&test_chain, seed).await?;
    let newest = Arc::new(AtomicU64::new(0));
    let upstream = test_chain.rpc_url.clone();
    let turn = Arc::default();
    let proxy = RpcProxy { behavior, upstream, client: reqwest::Client::new(), turn, newest: newest.clone() };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = axum::serve(listener, Router::new().fallback(forward).with_state(proxy));
    tokio::spawn(async move { server.await });
    let mut indexer = Indexer::of(&test_chain, &[&url]).await?;
    for _ in 0..4 {
        history.go_on(20).await?;
        let head = alloy::providers::Provider::get_block_number(&test_chain.node).await?;
        newest.store(head, Ordering::Relaxed);
        // A run may fail, but must not skip blocks that it didn't get.
        for _ in 0..200 {
            let followed = indexer.follow().await;
            if followed.is_ok_and(|followed| followed.next_block > head) {
                break;
            }
        }
        indexer.assert_fresh(&test_chain, &format!("{behavior:?}")).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limited_block_ranges_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::FewBlocks(3), 11).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limited_numbers_of_logs_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::FewLogs(40), 12).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_requests_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::Failing, 13).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lagging_node_leaves_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::Lagging(6), 14).await
}
