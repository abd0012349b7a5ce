use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{Json, Router, extract::State};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Stands in front of a node and keeps receipts to itself, as one does that hasn't seen the block yet; or takes no
/// transaction.
pub struct Veil {
    pub url: String,
    is_lifted: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    is_lifted: Arc<AtomicBool>,
    refuses: bool,
}

impl Veil {
    pub async fn in_front_of(url: &str) -> Self {
        Self::start(url, false).await
    }

    /// A node that refuses every transaction for good.
    pub async fn refusing(url: &str) -> Self {
        Self::start(url, true).await
    }

    async fn start(url: &str, refuses: bool) -> Self {
        let is_lifted = Arc::new(AtomicBool::new(refuses));
        let (url, client) = (url.to_owned(), reqwest::Client::new());
        let upstream = Upstream { url, client, is_lifted: is_lifted.clone(), refuses };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, Router::new().fallback(forward).with_state(upstream)).into_future());
        Self { url, is_lifted }
    }

    /// Lets receipts through from now on.
    pub fn lift(&self) {
        self.is_lifted.store(true, Ordering::Relaxed);
    }
}

async fn forward(State(upstream): State<Upstream>, Json(call): Json<Value>) -> Json<Value> {
    if call["method"] == "eth_sendRawTransaction" && upstream.refuses {
        let error = json!({"code": -32000, "message": "intrinsic gas too low"});
        return Json(json!({"jsonrpc": "2.0", "id": call["id"], "error": error}));
    }
    if call["method"] == "eth_getTransactionReceipt" && !upstream.is_lifted.load(Ordering::Relaxed) {
        return Json(json!({"jsonrpc": "2.0", "id": call["id"], "result": null}));
    }
    let answer = upstream.client.post(&upstream.url).json(&call).send().await.expect("the node answers");
    Json(answer.json().await.expect("the answer can be read"))
}
