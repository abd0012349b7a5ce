use std::{
    mem,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, extract::State};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A proxy of a node that records the methods called and answers some calls itself.
pub struct RpcProxy {
    pub url: String,
    methods: Arc<Mutex<Vec<String>>>,
}

/// Returns `{result}` or `{error}` for the JSON-RPC calls that the proxy answers itself.
type Answer = dyn Fn(&Value) -> Option<Value> + Send + Sync;

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    methods: Arc<Mutex<Vec<String>>>,
    answer: Arc<Answer>,
}

impl RpcProxy {
    /// Starts a proxy; calls for which `answer` returns `None` go to the node.
    pub async fn in_front_of(url: &str, answer: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static) -> Self {
        let methods = Arc::new(Mutex::new(Vec::new()));
        let upstream = Upstream {
            url: url.to_owned(),
            client: reqwest::Client::new(),
            methods: methods.clone(),
            answer: Arc::new(answer),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, Router::new().fallback(forward).with_state(upstream)).into_future());
        Self { url, methods }
    }

    /// The methods called since the last `take`.
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut *self.methods.lock().expect("nobody panicked"))
    }
}

async fn forward(State(upstream): State<Upstream>, Json(call): Json<Value>) -> Json<Value> {
    let method = call["method"].as_str().unwrap_or_default().to_owned();
    upstream.methods.lock().expect("nobody panicked").push(method);
    if let Some(mut answer) = (upstream.answer)(&call) {
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = call["id"].clone();
        return Json(answer);
    }
    let answer = upstream.client.post(&upstream.url).json(&call).send().await.expect("the node answers");
    Json(answer.json().await.expect("the answer can be read"))
}
