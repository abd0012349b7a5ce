//! Failover among the nodes of one chain.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use serde_json::{Value, json};
use shared::{
    chain::node::{Node, NodeFault, NodeUrls},
    model::ChainId,
};
use tokio::sync::Mutex;

type Error = Box<dyn std::error::Error + Send + Sync>;

const CHAIN: ChainId = ChainId(8453);
const TIMEOUT: Duration = Duration::from_millis(300);

/// How a node behaves.
#[derive(Clone, Copy, Debug)]
enum NodeBehavior {
    Answers,
    Fails,
    TimesOut,
    RateLimits,
    AnswersHtml,
    Refuses(&'static str),
}

/// A node that answers with a block number or a hash, and counts its requests.
#[derive(Clone)]
struct TestNode {
    behavior: Arc<Mutex<NodeBehavior>>,
    requests: Arc<AtomicUsize>,
    url: String,
}

impl TestNode {
    async fn start(behavior: NodeBehavior) -> Result<Self, Error> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let node = Self { behavior: Arc::new(Mutex::new(behavior)), requests: Arc::default(), url };
        let router = Router::new().fallback(answer).with_state(node.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(node)
    }

    fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }

    async fn set(&self, behavior: NodeBehavior) {
        *self.behavior.lock().await = behavior;
    }
}

async fn answer(State(node): State<TestNode>, body: Bytes) -> impl IntoResponse {
    node.requests.fetch_add(1, Ordering::Relaxed);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let hash = format!("0x{}", "11".repeat(32));
    let result = if request["method"] == "eth_sendRawTransaction" { hash } else { "0x7".to_owned() };
    let good = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
    let refusal = |code: i64, message: &str| {
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}).to_string()
    };
    let behavior = *node.behavior.lock().await;
    match behavior {
        NodeBehavior::Answers => (StatusCode::OK, good),
        NodeBehavior::Fails => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        NodeBehavior::TimesOut => {
            tokio::time::sleep(TIMEOUT * 4).await;
            (StatusCode::OK, good)
        }
        NodeBehavior::RateLimits => (StatusCode::TOO_MANY_REQUESTS, "slow down".to_owned()),
        NodeBehavior::AnswersHtml => (StatusCode::OK, "<html>".to_owned()),
        NodeBehavior::Refuses(message) => (StatusCode::OK, refusal(-32000, message)),
    }
}

async fn two(first: NodeBehavior, second: NodeBehavior) -> Result<(TestNode, TestNode, Node), Error> {
    let (first, second) = (TestNode::start(first).await?, TestNode::start(second).await?);
    let urls: NodeUrls = json!({ CHAIN.to_string(): [first.url, second.url] }).to_string().parse()?;
    Ok((first, second, Node::with_timeout(&urls, CHAIN, TIMEOUT)?))
}

#[tokio::test]
async fn next_node_is_asked_only_after_a_failure() -> Result<(), Error> {
    let (first, second, node) = two(NodeBehavior::Answers, NodeBehavior::Answers).await?;
    assert_eq!(node.newest_block().await?, 7);
    assert_eq!((first.take_requests(), second.take_requests()), (1, 0));

    for behavior in [NodeBehavior::Fails, NodeBehavior::TimesOut, NodeBehavior::RateLimits, NodeBehavior::AnswersHtml] {
        first.set(behavior).await;
        assert_eq!(node.newest_block().await?, 7, "{behavior:?}");
        node.send(b"signed").await?;
        assert_eq!((first.take_requests(), second.take_requests()), (2, 2), "{behavior:?}");
    }

    // A recovered node is preferred again.
    first.set(NodeBehavior::Answers).await;
    node.newest_block().await?;
    assert_eq!((first.take_requests(), second.take_requests()), (1, 0));
    Ok(())
}

#[tokio::test]
async fn transaction_errors_are_not_retried_on_another_node() -> Result<(), Error> {
    let refusals = [
        ("nonce too low", NodeFault::NonceTooLow),
        ("replacement transaction underpriced", NodeFault::ReplacementUnderpriced),
    ];
    for (message, fault) in refusals {
        let (first, second, node) = two(NodeBehavior::Refuses(message), NodeBehavior::Answers).await?;
        let Err(error) = node.send(b"signed").await else { return Err("taken".into()) };
        assert_eq!((error.fault, error.may_have_left), (fault, false));
        assert_eq!((first.take_requests(), second.take_requests()), (1, 0), "{message}");
    }
    let (first, second, node) = two(NodeBehavior::Refuses("already known"), NodeBehavior::Answers).await?;
    node.send(b"signed").await?;
    assert_eq!((first.take_requests(), second.take_requests()), (1, 0));
    Ok(())
}

#[tokio::test]
async fn timeout_means_that_the_transaction_may_have_left() -> Result<(), Error> {
    let (.., node) = two(NodeBehavior::TimesOut, NodeBehavior::Refuses("nonce too low")).await?;
    let Err(error) = node.send(b"signed").await else { return Err("taken".into()) };
    assert_eq!((error.fault, error.may_have_left), (NodeFault::NonceTooLow, true));

    let (first, second, node) = two(NodeBehavior::Fails, NodeBehavior::Fails).await?;
    assert!(node.newest_block().await.is_err());
    assert_eq!((first.take_requests(), second.take_requests()), (1, 1), "each node is asked once");
    Ok(())
}
