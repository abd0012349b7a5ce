//! A proxy that makes a node unreliable.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use alloy::primitives::keccak256;
use axum::{Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use serde_json::{Value, json};

/// Pseudorandom numbers, the same in every run.
#[derive(Clone, Default)]
pub(crate) struct Dice(Arc<AtomicU64>);

impl Dice {
    /// A number below `sides`.
    pub(crate) fn roll(&self, sides: u64) -> u64 {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let hash = keccak256(turn.to_be_bytes());
        hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)) % sides
    }
}

/// Forwards requests to a node and disturbs every third transaction and one read in `one_read_in`.
#[derive(Clone)]
struct FaultyProxy {
    node: String,
    client: reqwest::Client,
    dice: Dice,
    delay: Duration,
    one_read_in: u64,
}

async fn forward_or_disturb(State(proxy): State<FaultyProxy>, body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refuse = |message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": message}});
        (StatusCode::OK, error.to_string())
    };
    let forward = async || {
        let call = proxy.client.post(&proxy.node).header("content-type", "application/json").body(body.clone());
        match call.send().await {
            Ok(answer) => (StatusCode::OK, answer.text().await.unwrap_or_default()),
            Err(_) => (StatusCode::BAD_GATEWAY, String::new()),
        }
    };
    let is_sent = request["method"] == "eth_sendRawTransaction";
    if proxy.dice.roll(if is_sent { 3 } else { proxy.one_read_in }) != 0 {
        return forward().await;
    }
    // The last three kinds are answers to transactions only.
    match proxy.dice.roll(if is_sent { 7 } else { 4 }) {
        0 => {
            forward().await;
            (StatusCode::OK, String::new())
        }
        1 if is_sent || proxy.dice.roll(3) == 0 => {
            let answer = forward().await;
            tokio::time::sleep(proxy.delay).await;
            answer
        }
        1 | 2 => (StatusCode::INTERNAL_SERVER_ERROR, "internal server error".to_owned()),
        3 => {
            forward().await;
            (StatusCode::BAD_GATEWAY, String::new())
        }
        4 => refuse("nonce too low"),
        5 => refuse("already known"),
        _ => refuse("replacement transaction underpriced"),
    }
}

/// Starts a proxy and returns its URL. Some answers are held back for `delay`.
pub(crate) async fn start_faulty_proxy(
    node: &str,
    delay: Duration,
    one_read_in: u64,
) -> Result<String, std::io::Error> {
    let (client, dice) = (reqwest::Client::new(), Dice::default());
    let proxy = FaultyProxy { node: node.to_owned(), client, dice, delay, one_read_in };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, Router::new().fallback(forward_or_disturb).with_state(proxy)).into_future());
    Ok(url)
}
