//! `GET /artists/requests`: what an API key was sent with.

use std::time::Instant;

use serde_json::{Value, json};
use tests::{Answer, Sandbox, SignedIn, Stack, eventually, fields};

async fn requests(stack: &Stack, artist: &SignedIn, key: &str) -> Vec<Value> {
    let path = format!("/artists/requests?keyId={key}&limit=100");
    let answer = Answer::of(stack.get(&path).bearer_auth(&artist.token)).await.expect_success();
    answer.body["requests"].as_array().expect("requests").clone()
}

/// Sends a request until it is in the list: a note that takes the function too long is given up.
async fn noted(stack: &Stack, artist: &SignedIn, key: &str, send: impl AsyncFn() -> Answer) -> Answer {
    eventually("a request in the list", async || {
        let answer = send().await;
        let listed = requests(stack, artist, key).await;
        listed.iter().any(|row| row["requestId"] == answer.header("x-request-id")).then_some(answer)
    })
    .await
}

#[tokio::test]
async fn artist_sees_what_a_key_was_sent_with_and_nobody_else_does() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let made = stack.create_key(&artist, &json!({"name": "Kiosk", "scopes": ["collect"]})).await.expect_success();
    let key = made.body["apiKey"].as_str().expect("a key");
    let id = stack.list_keys(&artist).await[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(requests(&stack, &artist, &id).await, [] as [Value; 0]);

    let me = async || Answer::of(stack.get("/me").header("x-api-key", key)).await.expect_success();
    let refused = async || stack.write_once("/moment/create", key, &json!({}), &[]).await.expect_error(403);
    let wrong = async || stack.write_once("/moment/collect", key, &json!({"amount": 0}), &[]).await.expect_error(400);
    let me = noted(&stack, &artist, &id, me).await;
    let refused = noted(&stack, &artist, &id, refused).await;
    let wrong = noted(&stack, &artist, &id, wrong).await;
    // Neither needs the key, nor is the other key's.
    Answer::of(stack.get("/chains").header("x-api-key", key)).await.expect_success();
    Answer::of(stack.get("/me").bearer_auth(&other.token)).await.expect_success();

    // A note that was given up may come later: of each request, the one that was sent last.
    let sent = [&wrong, &refused, &me].map(|answer| answer.header("x-request-id"));
    let of_sent = |mut rows: Vec<Value>| {
        rows.retain(|row| sent.iter().any(|id| row["requestId"] == *id));
        rows
    };
    let all = requests(&stack, &artist, &id).await;
    let routes = ["POST /moment/collect", "POST /moment/create", "GET /me"];
    assert!(all.iter().all(|row| routes.iter().any(|route| row["route"] == *route)), "{all:?}");
    let seen = of_sent(all);
    assert_eq!(fields(&seen[0]), ["at", "durationMs", "message", "requestId", "route", "skipped", "status"]);
    let told = |row: &Value| (row["route"].clone(), row["status"].clone(), row["requestId"].clone());
    let expected = [("POST /moment/collect", &wrong), ("POST /moment/create", &refused), ("GET /me", &me)];
    assert_eq!(
        seen.iter().map(told).collect::<Vec<_>>(),
        expected.map(|(route, of)| (json!(route), json!(of.status), json!(of.header("x-request-id"))))
    );
    assert_eq!([&seen[0]["message"], &seen[1]["message"]], [&wrong.body["message"], &refused.body["message"]]);
    assert_eq!((&seen[2]["message"], &seen[2]["skipped"]), (&Value::Null, &json!(0)));

    assert_eq!(requests(&stack, &other, &id).await, [] as [Value; 0]);
    let path = format!("/artists/requests?keyId={id}");
    Answer::of(stack.get(&path).header("x-api-key", key)).await.expect_error(401);
    Answer::of(stack.get("/artists/requests").bearer_auth(&artist.token)).await.expect_error(400);
    // What a revoked key did is still there.
    stack.revoke_key(&artist, &id).await.expect_success();
    assert_eq!(of_sent(requests(&stack, &artist, &id).await).len(), 3);
}

#[tokio::test]
async fn key_that_is_sent_often_costs_few_rows() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let made = stack.create_key(&artist, &json!({})).await.expect_success();
    let id = stack.list_keys(&artist).await[0]["id"].as_str().expect("an id").to_owned();
    // One process, whoever else asks.
    let process = Sandbox::with_variables(&stack, "read-me", &[]).await;
    let mut event = process.event();
    event["headers"]["x-api-key"] = made.body["apiKey"].clone();
    event["headers"].as_object_mut().expect("headers").remove("authorization");
    let start = Instant::now();
    for _ in 0..50 {
        let answer = process.invoke(&event).await;
        assert_eq!(answer["statusCode"], 200, "{answer}");
    }
    let seen = requests(&stack, &artist, &id).await;
    // Thirty, and one more every other second. A note that takes too long is given up, and may be there or not.
    let most = 31 + usize::try_from(start.elapsed().as_secs()).expect("a number") / 2;
    let least = 30 - process.log().matches("\"not noted").count().min(30);
    assert!((least..=most).contains(&seen.len()), "{} rows, {least} to {most} expected", seen.len());
    let skipped: u64 = seen.iter().filter_map(|row| row["skipped"].as_u64()).sum();
    assert!(seen.len() as u64 + skipped <= 50, "{skipped} were left out of what is shown");
}
