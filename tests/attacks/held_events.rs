//! Artists who cost nothing wait for events from one network, so that nobody else can.

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, Sandbox, SignedIn, Stack, eventually, unused_address};

/// Artists of the attacker, each with two requests: more than wait of a network.
const ARTISTS: usize = 12;

/// Requests of a network that wait at once.
const ADMITTED: usize = 10;

/// Requests of a provider's block of addresses that wait at once.
const ADMITTED_OF_PROVIDER: usize = 30;

const NEVER: u64 = 4_000_000_000;

fn status(answer: &Value) -> u64 {
    answer["statusCode"].as_u64().expect("a status")
}

/// A query for what doesn't happen.
async fn nothing(stack: &Stack) -> String {
    let latest = Answer::of(stack.get("/events?after=latest")).await.expect_success().body;
    let (nobody, after) = ("9".repeat(40), latest["next"].as_str().expect("a cursor"));
    format!("artist=0x{nobody}&types=moment.created&after={after}")
}

/// Asks for that from an address, and returns the status.
async fn ask(waiting: &Sandbox, query: &str, token: &str, address: &str, wait: u64) -> u64 {
    let mut event = waiting.event();
    event["rawQueryString"] = json!(format!("{query}&wait={wait}"));
    event["headers"]["authorization"] = json!(format!("Bearer {token}"));
    event["requestContext"]["http"]["sourceIp"] = json!(address);
    status(&waiting.invoke(&event).await)
}

#[tokio::test]
async fn wallets_of_a_network_hold_a_tenth_and_no_read() {
    let stack = Stack::connect();
    let mut artists: Vec<SignedIn> = Vec::new();
    while artists.len() < ARTISTS {
        let wallets: [PrivateKeySigner; 5] = std::array::from_fn(|_| PrivateKeySigner::random());
        artists.extend(join_all(wallets.iter().map(|wallet| stack.sign_in_with_wallet(wallet))).await);
    }
    let honest = stack.new_artist().await;
    let query = nothing(&stack).await;

    // One of them goes on with the request that isn't waited for.
    let waiting = Sandbox::crowd(&stack, "wait-for-events", &[], &stack.map.dynamodb, 3).await;
    let ask = async |token: &str, address: &str, wait: u64| ask(&waiting, &query, token, address, wait).await;
    let (own, elsewhere) = (unused_address(), unused_address());
    let (network, _) = own.rsplit_once('.').expect("an address");
    let (secrets, places) = (&stack.map.names["SecretTable"], format!("WAITS#{network}.0/24"));
    // As if a request waited there for as long as the test takes.
    let hold = async |place: usize, end: u64| {
        let end = AttributeValue::N(end.to_string());
        stack.set(secrets, &places, &place.to_string(), "expires_at", end).await;
    };
    tokio::select! {
        status = ask(&artists[0].token, &own, 20) => panic!("it held no place: {status}"),
        _ = eventually("a place is held", async || stack.row(secrets, &places, "0").await) => {}
    }
    for place in 0..ADMITTED {
        hold(place, NEVER).await;
    }
    let attack = join_all((0..2 * ARTISTS).map(|request| {
        let (ask, token) = (&ask, &artists[request % ARTISTS].token);
        async move { ask(token, &format!("{network}.{request}"), 1).await }
    }));
    assert_eq!(attack.await, [429; 2 * ARTISTS]);
    assert_eq!(ask(&honest.token, &elsewhere, 1).await, 200, "another network waits");
    Answer::of(stack.get(&format!("/events?{query}&wait=0"))).await.expect_success();
    // A place is free after its end, and after the answer.
    for _ in 0..2 {
        hold(ADMITTED - 1, 1).await;
        assert_eq!(ask(&artists[1].token, &own, 1).await, 200);
    }
    assert!(stack.row(secrets, &places, &(ADMITTED - 1).to_string()).await.is_none());
}

#[tokio::test]
async fn networks_of_a_provider_hold_three_tenths() {
    let stack = Stack::connect();
    let (artist, query) = (stack.new_artist().await, nothing(&stack).await);
    let waiting = Sandbox::with_variables(&stack, "wait-for-events", &[]).await;
    let ask = async |address: &str| ask(&waiting, &query, &artist.token, address, 1).await;
    // No other test's.
    let (secrets, places) = (&stack.map.names["SecretTable"], "WAITS#198.18.0.0/16");
    let hold = async |place: usize, end: u64| {
        let end = AttributeValue::N(end.to_string());
        stack.set(secrets, places, &place.to_string(), "expires_at", end).await;
    };
    for place in 0..ADMITTED_OF_PROVIDER {
        hold(place, NEVER).await;
    }
    // Each gives back the place of its artist, who has two, and of its network.
    for network in 0..3 {
        assert_eq!(ask(&format!("198.18.{network}.7")).await, 429, "{network}");
        let of_network = stack.row(secrets, &format!("WAITS#198.18.{network}.0/24"), "0").await;
        assert!(of_network.is_none(), "{of_network:?}");
    }
    assert_eq!(ask("198.19.0.7").await, 200, "another provider waits");
    hold(ADMITTED_OF_PROVIDER - 1, 1).await;
    assert_eq!(ask("198.18.0.7").await, 200);
}

#[tokio::test]
async fn read_never_waits_and_names_the_place_that_does() {
    let stack = Stack::connect();
    let events = Sandbox::with_variables(&stack, "list-events", &[]).await;
    let answer = events.get("types=moment.created&wait=20").await;
    assert_eq!(status(&answer), 307, "{answer}");
    assert_eq!(answer["headers"]["location"], "events/wait?types=moment.created&wait=20");
    assert_eq!(status(&events.get("types=moment.created&wait=0").await), 200);
}
