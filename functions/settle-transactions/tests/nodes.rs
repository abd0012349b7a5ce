//! Several nodes of one chain: who is asked, and when the next one is.

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
    chain::{
        node::{Node, NodeUrls},
        node_error::NodeFault,
    },
    model::ChainId,
};
use tokio::sync::Mutex;

type Error = Box<dyn std::error::Error + Send + Sync>;

const CHAIN: ChainId = ChainId(8453);
const TIMEOUT: Duration = Duration::from_millis(300);

/// How a node behaves.
#[derive(Clone, Copy, Debug)]
enum Mood {
    Answers,
    Falls,
    Dawdles,
    IsBusy,
    TalksNonsense,
    Refuses(&'static str),
}

/// A node that answers every question with a block number, and knows how often it was asked.
#[derive(Clone)]
struct TestNode {
    mood: Arc<Mutex<Mood>>,
    asked: Arc<AtomicUsize>,
    url: String,
}

impl TestNode {
    async fn start(mood: Mood) -> Result<Self, Error> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let node = Self { mood: Arc::new(Mutex::new(mood)), asked: Arc::default(), url };
        let router = Router::new().fallback(answer).with_state(node.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(node)
    }

    fn take_asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }

    async fn turn(&self, mood: Mood) {
        *self.mood.lock().await = mood;
    }
}

async fn answer(State(node): State<TestNode>, body: Bytes) -> impl IntoResponse {
    node.asked.fetch_add(1, Ordering::Relaxed);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let hash = format!("0x{}", "11".repeat(32));
    let result = if request["method"] == "eth_sendRawTransaction" { hash } else { "0x7".to_owned() };
    let good = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
    let refusal = |code: i64, message: &str| {
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}).to_string()
    };
    let mood = *node.mood.lock().await;
    match mood {
        Mood::Answers => (StatusCode::OK, good),
        Mood::Falls => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        Mood::Dawdles => {
            tokio::time::sleep(TIMEOUT * 4).await;
            (StatusCode::OK, good)
        }
        Mood::IsBusy => (StatusCode::TOO_MANY_REQUESTS, "slow down".to_owned()),
        Mood::TalksNonsense => (StatusCode::OK, "<html>".to_owned()),
        Mood::Refuses(message) => (StatusCode::OK, refusal(-32000, message)),
    }
}

async fn two(first: Mood, second: Mood) -> Result<(TestNode, TestNode, Node), Error> {
    let (first, second) = (TestNode::start(first).await?, TestNode::start(second).await?);
    let urls: NodeUrls = json!({ CHAIN.to_string(): [first.url, second.url] }).to_string().parse()?;
    Ok((first, second, Node::with_timeout(&urls, CHAIN, TIMEOUT)?))
}

#[tokio::test]
async fn the_next_node_is_asked_only_when_the_one_before_fails() -> Result<(), Error> {
    let (first, second, node) = two(Mood::Answers, Mood::Answers).await?;
    assert_eq!(node.newest_block().await?, 7);
    assert_eq!((first.take_asked(), second.take_asked()), (1, 0));

    for mood in [Mood::Falls, Mood::Dawdles, Mood::IsBusy, Mood::TalksNonsense] {
        first.turn(mood).await;
        assert_eq!(node.newest_block().await?, 7, "{mood:?}");
        node.send(b"signed").await?;
        assert_eq!((first.take_asked(), second.take_asked()), (2, 2), "{mood:?}");
    }

    // A node that has failed is the preferred one again as soon as it answers.
    first.turn(Mood::Answers).await;
    node.newest_block().await?;
    assert_eq!((first.take_asked(), second.take_asked()), (1, 0));
    Ok(())
}

#[tokio::test]
async fn what_a_node_says_of_a_transaction_is_asked_of_no_other() -> Result<(), Error> {
    let refusals = [
        ("nonce too low", NodeFault::NonceTooLow),
        ("replacement transaction underpriced", NodeFault::ReplacementUnderpriced),
    ];
    for (message, fault) in refusals {
        let (first, second, node) = two(Mood::Refuses(message), Mood::Answers).await?;
        let Err(error) = node.send(b"signed").await else { return Err("taken".into()) };
        assert_eq!((error.fault, error.may_have_left), (fault, false));
        assert_eq!((first.take_asked(), second.take_asked()), (1, 0), "{message}");
    }
    let (first, second, node) = two(Mood::Refuses("already known"), Mood::Answers).await?;
    node.send(b"signed").await?;
    assert_eq!((first.take_asked(), second.take_asked()), (1, 0));
    Ok(())
}

#[tokio::test]
async fn a_transaction_that_a_silent_node_may_have_taken_may_have_left() -> Result<(), Error> {
    let (.., node) = two(Mood::Dawdles, Mood::Refuses("nonce too low")).await?;
    let Err(error) = node.send(b"signed").await else { return Err("taken".into()) };
    assert_eq!((error.fault, error.may_have_left), (NodeFault::NonceTooLow, true));

    let (first, second, node) = two(Mood::Falls, Mood::Falls).await?;
    assert!(node.newest_block().await.is_err());
    assert_eq!((first.take_asked(), second.take_asked()), (1, 1), "each once, and no more");
    Ok(())
}
