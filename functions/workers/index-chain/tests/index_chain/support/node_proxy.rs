//! A node that misbehaves.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use serde_json::{Value, json};
use tests::{Error, history::Dice};
use tokio::net::TcpListener;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeBehavior {
    Healthy,
    /// Limits the range of blocks of a log query.
    FewBlocks(u64),
    /// The same, and takes its time over each answer.
    SlowFewBlocks(u64),
    /// Limits the number of logs of a query.
    FewLogs(usize),
    /// The same, and has no receipts of blocks.
    FewLogsNoReceipts(usize),
    /// Answers so many requests a second, and refuses the others.
    Throttled(u32),
    /// Fails where it is asked for the newest final block.
    NoFinality,
    /// Every third answer is an error, empty or late.
    Failing,
    /// Every fourth answer lacks this many of the newest blocks, for logs without an error.
    Lagging(u64),
    /// Knows no block after this one.
    Frozen(u64),
    /// The same, and stays with the blocks that it has told of: other nodes disagree once the chain drops them.
    Stuck(u64),
    /// Leaves out every other log of a block.
    Omitting,
    /// Follows another chain, on which nothing happens.
    Foreign,
    /// Claims a newest block that it doesn't have.
    Absurd,
    /// Marks logs as removed.
    Removed,
}

/// A proxy of a node whose behavior can be changed.
#[derive(Clone)]
pub struct NodeProxy {
    pub url: String,
    upstream: String,
    client: reqwest::Client,
    turn: Arc<AtomicU64>,
    behavior: Arc<Mutex<NodeBehavior>>,
    methods: Arc<Mutex<Vec<String>>>,
    /// Requests that wait for their answers now, and the most so far.
    waiting: Arc<AtomicUsize>,
    /// The second that requests are counted in, and their number.
    counted: Arc<Mutex<(u64, u32)>>,
    start: Instant,
    most_waiting: Arc<AtomicUsize>,
    /// Answers by request.
    told: Arc<Mutex<HashMap<String, Value>>>,
}

impl NodeProxy {
    pub async fn in_front_of(upstream: &str, behavior: NodeBehavior) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let proxy = Self {
            url: format!("http://{}", listener.local_addr()?),
            upstream: upstream.to_owned(),
            client: reqwest::Client::new(),
            turn: Arc::default(),
            behavior: Arc::new(Mutex::new(behavior)),
            methods: Arc::default(),
            waiting: Arc::default(),
            counted: Arc::default(),
            start: Instant::now(),
            most_waiting: Arc::default(),
            told: Arc::default(),
        };
        let server = axum::serve(listener, Router::new().fallback(forward).with_state(proxy.clone()));
        tokio::spawn(async move { server.await });
        Ok(proxy)
    }

    pub fn behave(&self, behavior: NodeBehavior) {
        *self.behavior.lock().unwrap_or_else(PoisonError::into_inner) = behavior;
    }

    /// Number of calls of a method so far.
    pub fn calls_of(&self, method: &str) -> usize {
        self.methods.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|called| *called == method).count()
    }

    /// Whether this request is one too many in this second.
    fn is_too_fast(&self, allowed: u32) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let second = self.start.elapsed().as_secs();
        *counted = if counted.0 == second { (second, counted.1 + 1) } else { (second, 1) };
        counted.1 > allowed
    }

    /// Most requests that waited for their answers at once.
    pub fn most_at_once(&self) -> usize {
        self.most_waiting.load(Ordering::Relaxed)
    }

    fn told(&self, asked: &str) -> Option<Value> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).get(asked).cloned()
    }

    fn remember(&self, asked: String, answer: &Value) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(asked, answer.clone());
    }

    async fn ask(&self, body: &Value) -> Option<Value> {
        let call = self.client.post(&self.upstream).header("content-type", "application/json").body(body.to_string());
        serde_json::from_str(&call.send().await.ok()?.text().await.ok()?).ok()
    }

    /// Changes an answer to that of a node without the blocks after `newest`. `Err` for an error of the node.
    async fn cut(&self, request: &Value, answer: &mut Value, newest: u64) -> Result<(), ()> {
        let (parameter, filter) = (&request["params"][0], &request["params"][0]);
        match request["method"].as_str().unwrap_or_default() {
            "eth_blockNumber" => answer["result"] = json!(format!("{newest:#x}")),
            "eth_getBlockByNumber" if parameter == "latest" => {
                let block = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber",
                    "params": [format!("{newest:#x}"), false]});
                answer["result"] = self.ask(&block).await.unwrap_or_default()["result"].take();
            }
            "eth_getBlockByNumber" if quantity(parameter) > newest => answer["result"] = Value::Null,
            "eth_getBlockReceipts" if quantity(parameter) > newest => answer["result"] = Value::Null,
            "eth_getLogs" if !filter["blockHash"].is_null() => {
                let block = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByHash",
                    "params": [filter["blockHash"], false]});
                let block = self.ask(&block).await.unwrap_or_default();
                if quantity(&block["result"]["number"]) > newest {
                    return Err(());
                }
            }
            "eth_getLogs" => {
                let logs = answer["result"].as_array().cloned().unwrap_or_default();
                let has = |log: &Value| quantity(&log["blockNumber"]) <= newest;
                answer["result"] = logs.into_iter().filter(has).collect();
            }
            _ => {}
        }
        Ok(())
    }
}

fn quantity(value: &Value) -> u64 {
    value.as_str().and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()).unwrap_or_default()
}

async fn forward(State(proxy): State<NodeProxy>, body: Bytes) -> impl IntoResponse {
    let _waiting = Waiting::of(&proxy);
    answer(&proxy, &body).await
}

/// A request that waits for its answer, which nobody may want any more.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn of(proxy: &NodeProxy) -> Self {
        proxy.most_waiting.fetch_max(proxy.waiting.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        Self(proxy.waiting.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn answer(proxy: &NodeProxy, body: &Bytes) -> (StatusCode, String) {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let refuse = |message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32005, "message": message}});
        (StatusCode::OK, error.to_string())
    };
    let turn = proxy.turn.fetch_add(1, Ordering::Relaxed);
    let method = request["method"].as_str().unwrap_or_default();
    proxy.methods.lock().unwrap_or_else(PoisonError::into_inner).push(method.to_owned());
    let filter = &request["params"][0];
    let is_logs = method == "eth_getLogs";
    let behavior = *proxy.behavior.lock().unwrap_or_else(PoisonError::into_inner);
    if let NodeBehavior::Throttled(allowed) = behavior
        && proxy.is_too_fast(allowed)
    {
        return (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests".to_owned());
    }
    if behavior == NodeBehavior::NoFinality && filter == "finalized" {
        return refuse("internal error");
    }
    let asked = format!("{method} {}", request["params"]);
    if let (NodeBehavior::Stuck(_), Some(mut told)) = (behavior, proxy.told(&asked)) {
        told["id"] = request["id"].clone();
        return (StatusCode::OK, told.to_string());
    }
    let Some(mut answer) = proxy.ask(&request).await else { return (StatusCode::BAD_GATEWAY, String::new()) };
    proxy.remember(asked, &answer);
    let logs = answer["result"].as_array().map_or(0, Vec::len);
    if matches!(behavior, NodeBehavior::SlowFewBlocks(_)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    match behavior {
        NodeBehavior::FewBlocks(most) | NodeBehavior::SlowFewBlocks(most)
            if is_logs && quantity(&filter["toBlock"]).saturating_sub(quantity(&filter["fromBlock"])) >= most =>
        {
            return refuse("query exceeds max block range");
        }
        NodeBehavior::FewLogs(most) | NodeBehavior::FewLogsNoReceipts(most) if is_logs && logs > most => {
            return refuse("query returned more than the allowed results");
        }
        NodeBehavior::FewLogsNoReceipts(_) if method == "eth_getBlockReceipts" => return refuse("method not found"),
        NodeBehavior::Failing if Dice::at(turn).roll(3) == 0 => match turn % 3 {
            0 => return refuse("internal error"),
            1 => return (StatusCode::OK, String::new()),
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        },
        NodeBehavior::Lagging(behind) if Dice::at(turn).roll(4) == 0 => {
            let newest = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []});
            let newest = quantity(&proxy.ask(&newest).await.unwrap_or_default()["result"]);
            if proxy.cut(&request, &mut answer, newest.saturating_sub(behind)).await.is_err() {
                return refuse("unknown block");
            }
        }
        NodeBehavior::Frozen(newest) | NodeBehavior::Stuck(newest)
            if proxy.cut(&request, &mut answer, newest).await.is_err() =>
        {
            return refuse("unknown block");
        }
        NodeBehavior::Omitting if is_logs && !filter["blockHash"].is_null() => {
            let logs = answer["result"].as_array().cloned().unwrap_or_default();
            answer["result"] = logs.into_iter().step_by(2).skip(1).collect();
        }
        NodeBehavior::Foreign if method == "eth_chainId" => answer["result"] = json!("0x1"),
        NodeBehavior::Foreign if is_logs => answer["result"] = json!([]),
        NodeBehavior::Absurd if method == "eth_getBlockByNumber" && filter == "latest" => {
            answer["result"]["number"] = json!("0x3b9aca00");
        }
        NodeBehavior::Absurd if method == "eth_blockNumber" => answer["result"] = json!("0x3b9aca00"),
        NodeBehavior::Removed if is_logs => {
            for log in answer["result"].as_array_mut().into_iter().flatten() {
                log["removed"] = json!(true);
            }
        }
        _ => {}
    }
    (StatusCode::OK, answer.to_string())
}
