//! Storage that fails within a batch: the half-written batch is undone and written again.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use tests::{Error, TestChain, history::History};
use tokio::net::TcpListener;

use crate::support::Indexer;

/// Forwards requests to DynamoDB and fails every write after the first `left`.
#[derive(Clone)]
struct FailingProxy {
    upstream: String,
    client: reqwest::Client,
    left: Arc<AtomicI64>,
}

async fn forward(State(proxy): State<FailingProxy>, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let target = headers.get("x-amz-target").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    if target.contains("Write") && proxy.left.fetch_sub(1, Ordering::Relaxed) <= 0 {
        return (
            StatusCode::BAD_REQUEST,
            r#"{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException"}"#.into(),
        );
    }
    let mut request = proxy.client.post(&proxy.upstream).body(body);
    for name in ["authorization", "content-type", "x-amz-date", "x-amz-target"] {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    match request.send().await {
        Ok(answer) => (answer.status(), answer.bytes().await.unwrap_or_default()),
        Err(_) => (StatusCode::BAD_GATEWAY, Bytes::new()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_written_batch_is_undone_and_written_again() -> Result<(), Error> {
    let test_chain = TestChain::start("half-written", 64).await?;
    let mut history = History::on(&test_chain, 6).await?;
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&url)).await?;
    let proxy = FailingProxy { upstream: indexer.dynamodb.clone(), client: reqwest::Client::new(), left: left.clone() };
    let server = axum::serve(listener, Router::new().fallback(forward).with_state(proxy));
    tokio::spawn(async move { server.await });

    let mut failures = 0;
    for round in 0..5 {
        // Enough for more than one DynamoDB transaction.
        history.go_on(60).await?;
        for allowed in [0, 1, 2, 3, 5, 8, 13, 21, i64::from(round)] {
            left.store(allowed, Ordering::Relaxed);
            failures += usize::from(indexer.follow().await.is_err());
        }
        left.store(i64::MAX, Ordering::Relaxed);
        indexer.follow().await?;
        indexer.assert_fresh(&test_chain, &format!("round {round}")).await?;
    }
    assert!(failures >= 10, "only {failures} runs failed");
    Ok(())
}
