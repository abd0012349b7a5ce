//! Somebody has an artist's API key: they drain the account, take it over, give permissions away.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use tests::{Answer, Collector, DAY, Stack, within_one_window};

const ETHER: u64 = 1_000_000_000_000_000_000;
const FEE: u64 = 111_000_000_000_000;

async fn key_of(stack: &Stack, collector: &Collector, body: Value) -> String {
    let answer = stack.create_key(&collector.artist, &body).await.expect_success();
    answer.body["apiKey"].as_str().expect("a key").to_owned()
}

fn order(collection: Address, amount: u64) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount})
}

#[tokio::test]
async fn no_key_withdraws_or_takes_the_account_over() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    stack.set_balance(victim.account, ETHER).await;
    let thief = PrivateKeySigner::random();
    for request in [
        stack.post("/smartwallet/withdraw").json(&json!({"to": thief.address(), "amount": "max"})),
        stack.post("/artists/wallets/challenge").json(&json!({"address": thief.address()})),
        stack.post("/artists/wallets").json(&json!({"message": "x", "signature": "0x00"})),
        stack.delete(&format!("/artists/wallets?address={}", victim.account)),
        stack.post("/artists/payout-addresses").json(&json!({"address": thief.address()})),
        stack.get("/artists/payout-addresses"),
        stack.delete(&format!("/artists/payout-addresses?address={}", thief.address())),
        stack.get("/artists/activity"),
        stack.patch("/artists/me").json(&json!({"telegram_username": "thief"})),
    ] {
        let answer = Answer::of(request.header("x-api-key", &victim.key).header("idempotency-key", "take")).await;
        let answer = answer.expect_error(403);
        assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("scope")), "{answer:?}");
    }
    for request in [
        stack.post("/artists/api-keys").json(&json!({"name": "mine"})),
        stack.get("/artists/api-keys"),
        stack.post("/oauth/logout").json(&json!({"everywhere": true})),
    ] {
        Answer::of(request.header("x-api-key", &victim.key)).await.expect_error(401);
    }
    assert_eq!(stack.chain().get_balance(victim.account).await.expect("a balance"), U256::from(ETHER));
    assert_eq!(stack.list_keys(&victim.artist).await.len(), 1);
}

#[tokio::test]
async fn default_key_gives_no_permission_away() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let victim = Collector { artist: writer.artist, key: writer.key, account: Address::ZERO };
    let key = key_of(&stack, &victim, json!({})).await;
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let thief = json!({"moment": moment, "adminAddress": Address::repeat_byte(0xee)});
    let answer = stack.write_once("/moment/permission", &key, &thief, &[]).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("scope admin")), "{answer:?}");
    let own = json!({"moment": moment, "adminAddress": victim.artist.wallet});
    let request = stack.delete("/moment/permission").header("x-api-key", &key).json(&own);
    Answer::of(request).await.expect_error(403);
    stack.write("/moment/permission", &victim.key, &thief, &[]).await.expect_success();
}

#[tokio::test]
async fn key_spends_no_more_than_its_daily_limit() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let collection = stack.publish(&artist.key, sale, json!({})).await;
    let limit = 3 * (FEE + 1_000);
    let (victim, too_many, answers, refused) = within_one_window(DAY, async || {
        let victim = stack.new_collector().await;
        stack.set_balance(victim.account, ETHER).await;
        let key = key_of(&stack, &victim, json!({"dailySpend": {"eth": limit.to_string()}})).await;
        let collect = async |amount: u64| stack.write("/moment/collect", &key, &order(collection, amount), &[]).await;
        let too_many = collect(4).await;
        let answers = futures::future::join_all((0..5).map(|_| collect(1))).await;
        let refused = collect(1).await;
        (victim, too_many, answers, refused)
    })
    .await;

    let answer = too_many.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("dailySpend")), "{answer:?}");
    // Of five at once, those that fit are let through, and no more.
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 3, "{answers:?}");
    assert!(answers.iter().all(|answer| [200, 429].contains(&answer.status)), "{answers:?}");
    let refused = refused.expect_error(429);
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds <= 86_400), "{refused:?}");
    assert_eq!(stack.tokens_of(victim.account, collection).await, U256::from(3));
    // The artist's other keys have limits of their own.
    stack.write("/moment/collect", &victim.key, &order(collection, 1), &[]).await.expect_success();

    let publisher = key_of(&stack, &victim, json!({"scopes": ["publish"]})).await;
    let answer = stack.write_once("/moment/collect", &publisher, &order(collection, 1), &[]).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("scope collect")), "{answer:?}");
}

#[tokio::test]
async fn expired_key_is_refused() {
    let stack = Stack::connect();
    let victim = stack.new_collector().await;
    let key = key_of(&stack, &victim, json!({"name": "short", "expiresInDays": 1})).await;
    let list = || Answer::of(stack.get("/transactions").header("x-api-key", &key));
    list().await.expect_success();
    let hash = shared::auth::api_key::PlainKey::parse(&key).expect("a key").hash().as_str().to_owned();
    let past = aws_sdk_dynamodb::types::AttributeValue::N("1700000000".to_owned());
    stack.set(&stack.map.names["SecretTable"], &format!("KEY#{hash}"), "KEY", "valid_until", past).await;
    list().await.expect_error(401);
    let listed = &stack.list_keys(&victim.artist).await[0];
    assert_eq!(listed["scopes"], json!(["publish", "collect"]));
    assert!(listed["expires_at"].is_string(), "{listed}");
}

#[tokio::test]
async fn wrong_scopes_days_and_limits_are_named() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for (body, fields) in [
        (json!({"scopes": []}), vec!["scopes"]),
        (json!({"scopes": ["withdraw"]}), vec!["scopes.0"]),
        (json!({"scopes": ["publish", 7], "expiresInDays": 0}), vec!["scopes.1", "expiresInDays"]),
        (json!({"expiresInDays": 366}), vec!["expiresInDays"]),
        (json!({"dailySpend": {"eth": "1.5", "usdc": -1}}), vec!["dailySpend.eth", "dailySpend.usdc"]),
        (json!({"dailySpend": {"eth": "1".repeat(32)}}), vec!["dailySpend.eth"]),
    ] {
        let answer = stack.create_key(&artist, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    assert!(stack.list_keys(&artist).await.is_empty());
}
