//! Failover among the nodes of one chain.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use alloy::{
    consensus::Header,
    primitives::{Address, Bytes, U256},
    rpc::types,
    sol,
    sol_types::{SolCall, SolValue},
};
use axum::{
    Router, body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::future::try_join_all;
use local::patience::{PATIENCE, eventually};
use serde_json::{Value, json};
use shared::{
    chain::node::{Node, NodeFault, NodeTimes, NodeUrls, Refusals},
    clock,
    model::ChainId,
};
use tokio::{sync::Mutex, time::timeout};

type Error = Box<dyn std::error::Error + Send + Sync>;

const CHAIN: ChainId = ChainId(8453);
/// Longer than any test takes.
const NEVER: Duration = Duration::from_secs(3_600);
/// Enough for a node that never answers.
const SHORT: Duration = Duration::from_millis(100);

/// A node that hesitates is waited for, and one that failed stays behind.
const PATIENT: NodeTimes = NodeTimes { hedge: NEVER, penalty: NEVER };
/// Where one never answers.
const HASTY: NodeTimes = NodeTimes { hedge: SHORT, ..PATIENT };

sol! {
    struct Result3 {
        bool success;
        bytes returnData;
    }

    function aggregate3() external returns (Result3[] memory results);
    function number() external view returns (uint256 number);
}

/// How a node behaves.
#[derive(Clone, Copy, Debug)]
enum NodeBehavior {
    Answers,
    Fails,
    RateLimits,
    /// Answers, but for so many calls after the first ones.
    RateLimitsSome {
        after: usize,
        count: usize,
    },
    AnswersHtml,
    /// Answers; reads that come together are of a block with this time.
    AnswersAsOf(u64),
    Refuses(&'static str),
    /// Names the node at this port of this machine.
    Redirects(u16),
    /// Never answers.
    Hangs,
}

/// A node that answers with a block, its number or a hash, and counts its requests.
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

async fn answer(State(node): State<TestNode>, body: body::Bytes) -> Response {
    let number = node.requests.fetch_add(1, Ordering::Relaxed);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let hash = format!("0x{}", "11".repeat(32));
    let result = match request["method"].as_str() {
        Some("eth_sendRawTransaction") => json!(hash),
        Some("eth_getBlockByNumber") => block(),
        _ => json!("0x7"),
    };
    let good = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
    let refusal = |code: i64, message: &str| {
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}).to_string()
    };
    let behavior = *node.behavior.lock().await;
    let (status, text) = match behavior {
        NodeBehavior::RateLimitsSome { after, count } if (after..after + count).contains(&number) => {
            (StatusCode::TOO_MANY_REQUESTS, "slow down".to_owned())
        }
        NodeBehavior::RateLimitsSome { .. } => (StatusCode::OK, good),
        NodeBehavior::AnswersAsOf(time) if request["method"] == "eth_call" => {
            let result = |number: u64| Result3 { success: true, returnData: U256::from(number).abi_encode().into() };
            let results = vec![result(7), result(7), result(time)];
            let data = Bytes::from(aggregate3Call::abi_encode_returns(&results));
            (StatusCode::OK, json!({"jsonrpc": "2.0", "id": request["id"], "result": data}).to_string())
        }
        NodeBehavior::Answers | NodeBehavior::AnswersAsOf(_) => (StatusCode::OK, good),
        NodeBehavior::Fails => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        NodeBehavior::Hangs => pending().await,
        NodeBehavior::RateLimits => (StatusCode::TOO_MANY_REQUESTS, "slow down".to_owned()),
        NodeBehavior::AnswersHtml => (StatusCode::OK, "<html>".to_owned()),
        NodeBehavior::Refuses(message) => (StatusCode::OK, refusal(-32000, message)),
        NodeBehavior::Redirects(port) => {
            let target = format!("http://127.0.0.1:{port}");
            return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response();
        }
    };
    (status, text).into_response()
}

fn block() -> Value {
    let header = types::Header::new(Header { number: 7, ..Header::default() });
    let mut block = serde_json::to_value(&header).unwrap_or_default();
    (block["transactions"], block["uncles"]) = (json!([]), json!([]));
    block
}

async fn two(first: NodeBehavior, second: NodeBehavior) -> Result<(TestNode, TestNode, Node), Error> {
    within(NEVER, first, second).await
}

/// Two nodes, of which one that hesitates is waited for: how long an honest one takes depends on the machine.
async fn within(
    timeout: Duration,
    first: NodeBehavior,
    second: NodeBehavior,
) -> Result<(TestNode, TestNode, Node), Error> {
    let (first, second) = (TestNode::start(first).await?, TestNode::start(second).await?);
    let urls: NodeUrls = json!({ CHAIN.to_string(): [first.url, second.url] }).to_string().parse()?;
    Ok((first, second, Node::with_timeout(&urls, CHAIN, timeout)?.with_times(PATIENT)))
}

fn lone(node: &TestNode) -> Result<Node, Error> {
    let urls: NodeUrls = json!({ CHAIN.to_string(): [node.url] }).to_string().parse()?;
    Ok(Node::with_timeout(&urls, CHAIN, NEVER)?)
}

/// Waits until both nodes were asked: a sender doesn't wait for the slower one.
async fn until_both_were_asked(first: &TestNode, second: &TestNode) -> Result<(), Error> {
    let was_asked = |node: &TestNode| node.requests.load(Ordering::Relaxed) > 0;
    eventually("both were asked", async || Ok((was_asked(first) && was_asked(second)).then_some(()))).await
}

#[tokio::test]
async fn node_that_fails_is_passed_over_and_then_asked_last() -> Result<(), Error> {
    let (first, second, node) = two(NodeBehavior::Answers, NodeBehavior::Answers).await?;
    assert_eq!(node.newest_block().await?, 7);
    assert_eq!((first.take_requests(), second.take_requests()), (1, 0));

    for behavior in [NodeBehavior::Fails, NodeBehavior::Hangs, NodeBehavior::RateLimits, NodeBehavior::AnswersHtml] {
        let (first, second, node) = two(behavior, NodeBehavior::Answers).await?;
        // One that wants fewer calls is asked once more.
        let (times, asked) = match behavior {
            NodeBehavior::RateLimits => (PATIENT, 2),
            _ => (HASTY, 1),
        };
        assert_eq!(node.with_times(times).newest_block().await?, 7, "{behavior:?}");
        assert_eq!((first.take_requests(), second.take_requests()), (asked, 1), "{behavior:?}");
        node.newest_block().await?;
        assert_eq!((first.take_requests(), second.take_requests()), (0, 1), "{behavior:?}");
        // Where the other one fails, too, it is asked all the same, and preferred again once it answers.
        first.set(NodeBehavior::Answers).await;
        second.set(NodeBehavior::Fails).await;
        node.newest_block().await?;
        assert_eq!((first.take_requests(), second.take_requests()), (1, 1), "{behavior:?}");
        node.newest_block().await?;
        assert_eq!((first.take_requests(), second.take_requests()), (1, 0), "{behavior:?}");
    }
    Ok(())
}

#[tokio::test]
async fn node_that_redirects_fails_and_is_not_followed() -> Result<(), Error> {
    let other = TestNode::start(NodeBehavior::Answers).await?;
    let port = other.url.rsplit(':').next().unwrap_or_default().parse()?;
    let (first, second, node) = two(NodeBehavior::Redirects(port), NodeBehavior::Answers).await?;
    assert_eq!(node.newest_block().await?, 7);
    assert_eq!((first.take_requests(), second.take_requests()), (1, 1));
    node.newest_block().await?;
    assert_eq!((first.take_requests(), second.take_requests()), (0, 1), "it is asked last");
    let Err(error) = lone(&first)?.newest_block().await else { return Err("followed".into()) };
    assert_eq!(error.fault(), NodeFault::NoAnswer);
    assert_eq!(other.take_requests(), 0);
    Ok(())
}

#[tokio::test]
async fn calls_beyond_the_limit_of_a_lone_node_are_sent_again() -> Result<(), Error> {
    const COUNT: usize = 60;
    let limited = TestNode::start(NodeBehavior::RateLimitsSome { after: 25, count: 5 }).await?;
    let node = lone(&limited)?;
    for node in [&node, &node.in_bulk()] {
        let answers = try_join_all((0..COUNT).map(|_| node.newest_block())).await?;
        assert_eq!(answers, [7; COUNT]);
        assert_eq!(limited.take_requests(), COUNT + 5);
    }
    Ok(())
}

#[tokio::test]
async fn node_that_has_refused_no_call_gets_those_in_bulk_at_once() -> Result<(), Error> {
    const COUNT: usize = 60;
    let silent = TestNode::start(NodeBehavior::Hangs).await?;
    let node = lone(&silent)?.in_bulk();
    let calls = try_join_all((0..COUNT).map(|_| node.newest_block()));
    let is_asked = async || Ok((silent.requests.load(Ordering::Relaxed) == COUNT).then_some(()));
    tokio::select! {
        answers = calls => Err(format!("{answers:?}").into()),
        asked = eventually("all are sent", is_asked) => asked,
    }
}

#[tokio::test]
async fn call_beyond_the_limit_of_one_of_two_nodes_is_sent_again_once() -> Result<(), Error> {
    for (count, asked) in [(1, (2, 0)), (2, (2, 1))] {
        let limited = NodeBehavior::RateLimitsSome { after: 0, count };
        let (first, second, node) = two(limited, NodeBehavior::Answers).await?;
        assert_eq!(node.newest_block().await?, 7);
        assert_eq!((first.take_requests(), second.take_requests()), asked);
    }
    Ok(())
}

#[tokio::test]
async fn node_whose_newest_block_is_old_is_asked_last() -> Result<(), Error> {
    for (time, asked) in [(clock::now()?.as_secs(), (1, 0)), (0, (0, 1))] {
        let (first, second, node) = two(NodeBehavior::AnswersAsOf(time), NodeBehavior::Answers).await?;
        let read = || node.read(Address::ZERO, &numberCall {});
        let numbers = tokio::try_join!(read(), read())?;
        assert_eq!(numbers, (Some(U256::from(7)), Some(U256::from(7))));
        assert_eq!((first.take_requests(), second.take_requests()), (1, 0), "in one call");
        node.newest_block().await?;
        assert_eq!((first.take_requests(), second.take_requests()), asked);
    }
    Ok(())
}

#[tokio::test]
async fn node_that_hangs_delays_one_call_and_not_until_its_time_is_over() -> Result<(), Error> {
    let (first, second, node) = two(NodeBehavior::Hangs, NodeBehavior::Answers).await?;
    assert_eq!(timeout(PATIENCE, node.with_times(HASTY).newest_block()).await??, 7);
    assert_eq!((first.take_requests(), second.take_requests()), (1, 1));
    node.newest_block().await?;
    assert_eq!((first.take_requests(), second.take_requests()), (0, 1));
    Ok(())
}

#[tokio::test]
async fn nodes_that_all_hang_are_given_up() -> Result<(), Error> {
    let (.., node) = within(SHORT, NodeBehavior::Hangs, NodeBehavior::Hangs).await?;
    assert!(timeout(PATIENCE, node.newest_block()).await?.is_err());
    Ok(())
}

#[tokio::test]
async fn node_that_was_silent_three_times_keeps_nobody_waiting_until_it_is_heard() -> Result<(), Error> {
    let (first, _second, node) = two(NodeBehavior::Hangs, NodeBehavior::Answers).await?;
    // It is asked first again each time.
    let forgiving = node.with_times(NodeTimes { hedge: SHORT, penalty: Duration::ZERO });
    for _ in 0..3 {
        assert_eq!(timeout(PATIENCE, forgiving.newest_block()).await??, 7);
    }
    assert_eq!(first.take_requests(), 3);
    let ask_all = async || {
        let asked = node.ask_all(|node| async move { node.newest_block().await });
        let answers = timeout(PATIENCE, asked).await?;
        Ok::<Vec<_>, Error>(answers.into_iter().map(Result::ok).collect())
    };
    assert_eq!(ask_all().await?, [None, Some(7)]);

    first.set(NodeBehavior::Answers).await;
    node.compare_heads().await;

    assert_eq!(ask_all().await?, [Some(7), Some(7)]);
    Ok(())
}

#[tokio::test]
async fn signed_bytes_go_to_all_nodes() -> Result<(), Error> {
    for first in [NodeBehavior::Answers, NodeBehavior::Hangs, NodeBehavior::Refuses("nonce too low")] {
        let (first, second, node) = two(first, NodeBehavior::Answers).await?;
        timeout(PATIENCE, node.send(b"signed", &Refusals::default())).await??;
        until_both_were_asked(&first, &second).await?;
    }
    let (.., node) = two(NodeBehavior::Refuses("already known"), NodeBehavior::Fails).await?;
    node.send(b"signed", &Refusals::default()).await?;
    Ok(())
}

#[tokio::test]
async fn refusal_of_the_other_node_is_kept_after_a_yes() -> Result<(), Error> {
    let refuses = NodeBehavior::Refuses("nonce too low");
    let (first, second, node) = two(NodeBehavior::Answers, refuses).await?;
    let refusals = Refusals::default();
    let until = async |faults: &[NodeFault]| {
        node.send(b"signed", &refusals).await?;
        eventually("heard", async || Ok((refusals.faults() == faults).then_some(()))).await
    };
    until(&[NodeFault::NonceTooLow]).await?;
    // Whichever answers first.
    first.set(NodeBehavior::Refuses("insufficient funds")).await;
    second.set(NodeBehavior::Answers).await;
    until(&[NodeFault::InsufficientFunds]).await?;
    // One that fails takes nothing back.
    first.set(NodeBehavior::Fails).await;
    until(&[NodeFault::InsufficientFunds]).await?;
    first.set(NodeBehavior::Refuses("already known")).await;
    until(&[]).await
}

#[tokio::test]
async fn refused_transaction_has_the_fault_that_a_node_names() -> Result<(), Error> {
    let refusals = [
        ("nonce too low", NodeFault::NonceTooLow),
        ("replacement transaction underpriced", NodeFault::ReplacementUnderpriced),
    ];
    for (message, fault) in refusals {
        let (.., node) = two(NodeBehavior::Refuses(message), NodeBehavior::Refuses(message)).await?;
        let Err(error) = node.send(b"signed", &Refusals::default()).await else { return Err("taken".into()) };
        assert_eq!((error.fault, error.may_have_left), (fault, false));
        for silent in [NodeBehavior::Hangs, NodeBehavior::Fails] {
            let (.., node) = two(silent, NodeBehavior::Refuses(message)).await?;
            let Err(error) = node.with_times(HASTY).send(b"signed", &Refusals::default()).await else {
                return Err("taken".into());
            };
            assert_eq!((error.fault, error.may_have_left), (fault, true), "{silent:?}");
        }
    }
    let (first, second, node) = two(NodeBehavior::Fails, NodeBehavior::Fails).await?;
    assert!(node.newest_block().await.is_err());
    assert_eq!((first.take_requests(), second.take_requests()), (1, 1), "each node is asked once");
    Ok(())
}

#[tokio::test]
async fn limit_of_one_node_is_not_what_every_node_would_say() -> Result<(), Error> {
    for message in ["tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", "tx too large"] {
        let limited = NodeBehavior::Refuses(message);
        let (first, second, node) = two(limited, NodeBehavior::Answers).await?;
        for _ in 0..2 {
            assert_eq!(node.newest_block().await?, 7);
            assert_eq!(
                (first.take_requests(), second.take_requests()),
                (1, 1),
                "{message}: it is as healthy as before"
            );
        }
        for (other, expected) in [
            (limited, (NodeFault::Unwilling, false)),
            (NodeBehavior::Fails, (NodeFault::NoAnswer, true)),
            (NodeBehavior::Refuses("nonce too low"), (NodeFault::NonceTooLow, false)),
        ] {
            let (.., node) = two(limited, other).await?;
            let Err(error) = node.send(b"signed", &Refusals::default()).await else { return Err("taken".into()) };
            assert_eq!((error.fault, error.may_have_left), expected, "{message}, {other:?}");
        }
    }
    Ok(())
}
