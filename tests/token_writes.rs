//! Writes with a token in place of an API key.

use std::fs;

use alloy::primitives::U256;
use local::paths::Paths;
use serde_json::{Value, json};
use tests::{Answer, Collector, DAY, SignedIn, Stack, within_one_window};

const ETHER: u64 = 1_000_000_000_000_000_000;

fn left(answer: &Answer) -> u64 {
    let part = answer.header("ratelimit").split(';').find_map(|part| part.trim().strip_prefix("r="));
    part.and_then(|left| left.parse().ok()).unwrap_or_else(|| panic!("no limit: {answer:?}"))
}

#[tokio::test]
async fn token_is_taken_wherever_a_key_is() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let document = fs::read_to_string(Paths::of_checkout().root().join("openapi.json")).expect("openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let mut tried = 0;
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let schemes = operation["security"].as_array().map(Vec::as_slice).unwrap_or_default();
            let takes = |name: &str| schemes.iter().any(|scheme| scheme.get(name).is_some());
            if !takes("apiKey") {
                continue;
            }
            assert!(takes("token"), "{method} {path}");
            let url = format!("{}{path}", stack.map.api);
            let url = url.replace("{id}", "x").replace("{network}", "x").replace("{contract}", "x");
            let method: reqwest::Method = method.to_uppercase().parse().expect("a method");
            let request = || stack.http.request(method.clone(), &url).json(&json!({}));
            let answer = Answer::of(request()).await;
            let is_optional = schemes.contains(&json!({}));
            assert!(is_optional || answer.status == 401, "{method} {path}: {answer:?}");
            let answer = Answer::of(request().bearer_auth(&artist.token)).await;
            assert!(![401, 403].contains(&answer.status), "{method} {path}: {answer:?}");
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

#[tokio::test]
async fn token_does_what_a_key_may_not_and_spends_the_same_budget() {
    let stack = Stack::connect();
    let seller = stack.new_writer().await;
    let narrow = json!({"scopes": ["publish"], "dailySpend": {"eth": "0"}});
    let order = json!({"moment": {"collectionAddress": seller.collection, "tokenId": "1"}, "amount": 1});
    let make = json!({"name": "Both", "uri": "ipfs://bafyboth/collection.json"});
    let both = [("idempotency-key", "both")];
    let send = |artist: &SignedIn, path: &str, body: &Value, name: &str| {
        stack.post(path).bearer_auth(&artist.token).header("idempotency-key", name).json(body)
    };
    // The budget is one of a day. Once nothing is on its way, no reserve, which follows the fees, is in what is left.
    let (artist, key, [collected, by_key, by_token, again]) = within_one_window(DAY, async || {
        let Collector { artist, account, .. } = stack.new_collector().await;
        stack.set_balance(account, ETHER).await;
        let created = stack.create_key(&artist, &narrow).await.expect_success();
        let key = created.body["apiKey"].as_str().expect("a key").to_owned();
        stack.write_once("/moment/collect", &key, &order, &[]).await.expect_error(403);
        let collect = || send(&artist, "/moment/collect", &order, "by-token");
        let first = Answer::of(collect()).await.expect_queued();
        let collected = Answer::of_write(collect()).await.expect_success();
        let replayed = Answer::of(collect()).await.expect_success();
        assert_eq!((replayed.header("idempotent-replayed"), &replayed.body), ("true", &collected.body));
        assert_eq!(replayed.header("transaction-id"), first.header("transaction-id"));
        assert_eq!(stack.tokens_of(account, seller.collection).await, U256::ONE);
        let by_key = stack.write("/collections", &key, &make, &both).await.expect_success();
        let by_token = Answer::of(send(&artist, "/collections", &make, "both")).await.expect_success();
        let again = stack.write_once("/collections", &key, &make, &both).await.expect_success();
        (artist, key, [replayed, by_key, by_token, again])
    })
    .await;

    // A key counts against what the token left, and its retries are the artist's.
    assert!(left(&by_token) < left(&collected), "{collected:?} {by_token:?}");
    assert_eq!(left(&again), left(&by_token), "{again:?} {by_token:?}");
    assert_eq!((by_token.header("idempotent-replayed"), &by_token.body), ("true", &by_key.body));
    assert_eq!(by_token.header("transaction-id"), by_key.header("transaction-id"));

    // Where both are sent, the token counts; one that was signed out counts for nothing.
    let made = Answer::of_write(send(&artist, "/collections", &make, "second")).await.expect_success();
    let permission = json!({"moment": {"collectionAddress": made.body["contractAddress"], "tokenId": "0"},
        "adminAddress": "0x00000000000000000000000000000000000000a1"});
    stack.write_once("/moment/permission", &key, &permission, &[]).await.expect_error(403);
    let both = || stack.post("/moment/permission").bearer_auth(&artist.token).header("x-api-key", &key);
    Answer::of_write(both().json(&permission)).await.expect_success();
    stack.log_out(&artist, &json!({})).await;
    Answer::of(both().json(&permission)).await.expect_error(401);
}
