//! A proxy in front of a node, KMS or DynamoDB that does to each request what a test decides.

mod forgery;
mod vice;

use std::{
    collections::{HashMap, VecDeque},
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use alloy::{hex, primitives::keccak256};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use self::forgery::Forgery;
pub use self::vice::{Vice, Wayward};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// How long old answers are remembered.
const MEMORY: Duration = Duration::from_secs(10);

/// A request.
pub struct Request {
    /// Method of a node, or operation of a service of AWS.
    pub operation: String,
    pub body: Value,
}

impl Request {
    /// A node's answer to one that sends a transaction, which is forgotten.
    pub fn swallow(&self) -> Act {
        let signed = hex::decode(self.body["params"][0].as_str().unwrap_or_default()).unwrap_or_default();
        Act::Say(json!(keccak256(signed)))
    }
}

/// Holds requests until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// Lets all pass, those to come as well.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn pass(&self) {
        let mut state = self.0.subscribe();
        // It can't fail: the sender is here.
        let _ = state.wait_for(|is_open| *is_open).await;
    }
}

type Change = Box<dyn FnOnce(&mut Value) + Send>;

/// What becomes of a request.
pub enum Act {
    Forward,
    /// Not forwarded; answered with a status and a body.
    Answer(u16, String),
    /// Not forwarded; a node's error.
    Refuse(&'static str),
    /// Not forwarded; a node's result.
    Say(Value),
    /// Forwarded; the answer is lost.
    Lose,
    /// Forwarded at once, answered late.
    Late(Duration),
    /// Forwarded late.
    Hold(Duration),
    /// Forwarded once a gate is open.
    Wait(Gate),
    /// Forwarded; a node's result is changed.
    Change(Change),
    /// Forwarded with another body.
    Instead(Value),
    /// A node's answer of some seconds ago; no receipt, if there is none.
    Old,
    /// A node's answer about blocks or receipts, as if the chain had gone another way.
    Fork,
    /// A node's answer about blocks or receipts that proves what was sent to have failed in a block with this number.
    Invent(u64),
}

impl Act {
    /// Forwarded; a field is added to a node's result, if there is one.
    pub fn add(field: &'static str, value: Value) -> Self {
        Self::Change(Box::new(move |result| {
            if let Some(fields) = result.as_object_mut() {
                fields.insert(field.to_owned(), value);
            }
        }))
    }

    /// An answer as AWS gives it to callers who ask too much.
    pub fn throttle() -> Self {
        let body = json!({"__type": "ThrottlingException", "message": "Rate exceeded"});
        Self::Answer(400, body.to_string())
    }
}

type Decide = dyn Fn(&Request) -> Act + Send + Sync;

struct Proxy {
    target: String,
    client: reqwest::Client,
    decide: Box<Decide>,
    memory: Mutex<HashMap<String, VecDeque<(Instant, Value)>>>,
    forgery: Forgery,
}

/// Starts a proxy and returns its URL.
pub async fn start(target: &str, decide: impl Fn(&Request) -> Act + Send + Sync + 'static) -> Result<String, Error> {
    let client = reqwest::Client::new();
    let proxy = Proxy {
        target: target.to_owned(),
        client,
        decide: Box::new(decide),
        memory: Mutex::default(),
        forgery: Forgery::default(),
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, Router::new().fallback(handle).with_state(Arc::new(proxy))).into_future());
    Ok(url)
}

async fn handle(State(proxy): State<Arc<Proxy>>, headers: HeaderMap, bytes: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()?.split('.').next_back());
    let operation = target.or(body["method"].as_str()).unwrap_or_default().to_owned();
    let request = Request { operation, body };
    let act = (proxy.decide)(&request);
    let id = &request.body["id"];
    let lost = || StatusCode::BAD_GATEWAY.into_response();
    match act {
        Act::Forward => proxy.forward(&request, headers, bytes).await,
        Act::Answer(status, body) => (StatusCode::from_u16(status).unwrap_or_default(), body).into_response(),
        Act::Refuse(message) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}})
            .to_string()
            .into_response(),
        Act::Say(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_response(),
        Act::Lose => {
            proxy.forward(&request, headers, bytes).await;
            lost()
        }
        Act::Late(delay) => {
            let answer = proxy.forward(&request, headers, bytes).await;
            tokio::time::sleep(delay).await;
            answer
        }
        Act::Hold(delay) => {
            // It arrives although nobody waits for it any more.
            let held = tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                proxy.forward(&request, headers, bytes).await
            });
            held.await.unwrap_or_else(|_| lost())
        }
        Act::Wait(gate) => {
            let held = tokio::spawn(async move {
                gate.pass().await;
                proxy.forward(&request, headers, bytes).await
            });
            held.await.unwrap_or_else(|_| lost())
        }
        Act::Instead(body) => {
            let bytes = body.to_string().into();
            proxy.forward(&Request { body, ..request }, headers, bytes).await
        }
        Act::Change(change) => match proxy.result(&request, headers, bytes).await {
            Some(mut result) => {
                change(&mut result);
                json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_response()
            }
            None => lost(),
        },
        Act::Invent(number) => match proxy.forgery.invented(&request, number) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_response(),
            None => proxy.forward(&request, headers, bytes).await,
        },
        Act::Fork => match proxy.forked(&request, &headers).await {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_response(),
            None => lost(),
        },
        Act::Old => match proxy.remembered(&request) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_response(),
            None => proxy.forward(&request, headers, bytes).await,
        },
    }
}

impl Proxy {
    async fn forward(&self, request: &Request, mut headers: HeaderMap, bytes: Bytes) -> Response {
        self.forgery.see(request);
        for name in [header::HOST, header::CONTENT_LENGTH, header::CONNECTION] {
            headers.remove(name);
        }
        let Ok(answer) = self.client.post(&self.target).headers(headers).body(bytes).send().await else {
            return StatusCode::BAD_GATEWAY.into_response();
        };
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove(header::TRANSFER_ENCODING);
        let Ok(bytes) = answer.bytes().await else { return StatusCode::BAD_GATEWAY.into_response() };
        if request.operation.starts_with("eth_") {
            self.remember(request, &bytes);
        }
        (status, headers, bytes).into_response()
    }

    async fn result(&self, request: &Request, headers: HeaderMap, bytes: Bytes) -> Option<Value> {
        let answer = self.forward(request, headers, bytes).await.into_body();
        let answer: Value = serde_json::from_slice(&axum::body::to_bytes(answer, usize::MAX).await.ok()?).ok()?;
        answer.get("result").cloned()
    }

    fn remember(&self, request: &Request, answer: &[u8]) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let Some(result) = answer.get("result") else { return };
        let Ok(mut memory) = self.memory.lock() else { return };
        let known = memory.entry(key(request)).or_default();
        known.retain(|(at, _)| at.elapsed() < MEMORY);
        known.push_back((Instant::now(), result.clone()));
    }

    fn remembered(&self, request: &Request) -> Option<Value> {
        if request.operation == "eth_getTransactionReceipt" {
            return Some(Value::Null);
        }
        let memory = self.memory.lock().ok()?;
        let known = memory.get(&key(request))?;
        known.iter().find(|(at, _)| at.elapsed() < MEMORY).map(|(_, result)| result.clone())
    }
}

fn key(request: &Request) -> String {
    format!("{} {}", request.operation, request.body["params"])
}
