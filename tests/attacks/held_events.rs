//! Artists who cost nothing wait for events from one network, so that nobody else can.

use alloy::signers::local::PrivateKeySigner;
use futures::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, Sandbox, SignedIn, Stack, unused_address};

/// Artists of the attacker, each with two requests.
const ARTISTS: usize = 50;

/// Requests of a network that wait at once.
const ADMITTED: usize = 10;

/// How long they wait, in seconds: as long as they may, since all others are refused meanwhile.
const WAIT: u64 = 20;

fn status(answer: &Value) -> u64 {
    answer["statusCode"].as_u64().expect("a status")
}

#[tokio::test]
async fn fifty_wallets_of_a_network_hold_a_tenth_and_no_read() {
    let stack = Stack::connect();
    let mut artists: Vec<SignedIn> = Vec::new();
    while artists.len() < ARTISTS {
        let wallets: [PrivateKeySigner; 5] = std::array::from_fn(|_| PrivateKeySigner::random());
        artists.extend(join_all(wallets.iter().map(|wallet| stack.sign_in_with_wallet(wallet))).await);
    }
    let honest = stack.new_artist().await;
    let latest = Answer::of(stack.get("/events?after=latest")).await.expect_success().body;
    // Nothing happens to this account.
    let nobody = "0x".to_owned() + &"9".repeat(40);
    let after = latest["next"].as_str().expect("a cursor");
    let query = |wait: u64| format!("artist={nobody}&types=moment.created&after={after}&wait={wait}");

    // Two processes more than may wait, so that all others are refused meanwhile.
    let waiting = Sandbox::crowd(&stack, "wait-for-events", &[], &stack.map.dynamodb, ADMITTED + 2).await;
    let ask = async |token: &str, address: &str, wait: u64| {
        let mut event = waiting.event();
        event["rawQueryString"] = json!(query(wait));
        event["headers"]["authorization"] = json!(format!("Bearer {token}"));
        event["requestContext"]["http"]["sourceIp"] = json!(address);
        status(&waiting.invoke(&event).await)
    };
    let network = unused_address();
    let (network, _) = network.rsplit_once('.').expect("an address");
    let attack = join_all((0..2 * ARTISTS).map(|request| {
        let (ask, token) = (&ask, &artists[request % ARTISTS].token);
        async move { ask(token, &format!("{network}.{request}"), WAIT).await }
    }));
    let elsewhere = unused_address();
    let (statuses, elsewhere, read) = tokio::join!(attack, ask(&honest.token, &elsewhere, 1), async {
        Answer::of(stack.get(&format!("/events?{}", query(0)))).await
    });
    let count = |wanted: u64| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(429)), (ADMITTED, 2 * ARTISTS - ADMITTED), "{statuses:?}");
    assert_eq!(elsewhere, 200, "another network waits");
    read.expect_success();
    // Their places are free again.
    assert_eq!(ask(&artists[0].token, &format!("{network}.1"), 1).await, 200);
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
