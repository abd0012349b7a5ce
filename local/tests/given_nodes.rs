//! `RPC_URLS` and `NODE_PORTS`: somebody's own proxy stands between the functions and a node.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Json, Router, extract::State, routing::post};
use local::{
    Error,
    chains::NodeSettings,
    paths::Paths,
    process::free_port,
    stack::{Options, Stack},
};
use serde_json::Value;
use tokio::net::TcpListener;

/// A proxy of a node that notes the methods called.
#[derive(Clone)]
struct Proxy {
    node: String,
    methods: Arc<Mutex<BTreeSet<String>>>,
}

async fn forward(State(proxy): State<Proxy>, Json(request): Json<Value>) -> Json<Value> {
    let calls = request.as_array().cloned().unwrap_or_else(|| vec![request.clone()]);
    let methods = calls.iter().filter_map(|call| call["method"].as_str().map(str::to_owned));
    proxy.methods.lock().unwrap_or_else(PoisonError::into_inner).extend(methods);
    let answer = reqwest::Client::new().post(&proxy.node).json(&request).send().await;
    Json(match answer {
        Ok(answer) => answer.json().await.unwrap_or_default(),
        Err(_) => Value::Null,
    })
}

#[tokio::test]
async fn functions_call_the_given_url_and_the_node_has_the_given_port() -> Result<(), Error> {
    let (paths, port) = (Paths::of_checkout(), free_port()?);
    let proxy = Proxy { node: format!("http://127.0.0.1:{port}"), methods: Arc::default() };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new().route("/", post(forward)).with_state(proxy.clone());
    tokio::spawn(async { axum::serve(listener, router).await });

    let nodes = NodeSettings::parse(&format!(r#"{{"8453": ["{url}"]}}"#), &format!(r#"{{"8453": {port}}}"#))?;
    let options = Options { nodes, ..Options::at(paths.local("nodes")) };
    let stack = Stack::start(&paths, &options).await?;

    assert_eq!(stack.map.rpc["8453"], proxy.node);
    // The demo content is published at the node itself, and indexed through the proxy.
    let methods = proxy.methods.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(methods.contains("eth_getLogs"), "{methods:?}");
    Ok(())
}
