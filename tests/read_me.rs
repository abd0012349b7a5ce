//! `GET /me`

use serde_json::{Value, json};
use tests::{Answer, DAY, Stack, fields, within_one_window};

const FIELDS: [&str; 8] =
    ["artist", "credential", "daily_spend", "expires_at", "fresh_until", "key_id", "left_today", "scopes"];

#[tokio::test]
async fn token_and_key_are_told_who_they_are_and_what_they_may_do() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let me = Answer::of(stack.get("/me").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(fields(&me.body), FIELDS);
    assert_eq!(me.body["artist"], json!({"address": artist.wallet, "username": ""}));
    assert_eq!((&me.body["credential"], &me.body["key_id"]), (&json!("token"), &Value::Null));
    assert_eq!(me.body["scopes"], json!(["publish", "collect", "admin"]));
    assert!(me.body["fresh_until"].as_str() < me.body["expires_at"].as_str(), "{me:?}");
    assert_eq!((&me.body["daily_spend"], &me.body["left_today"]), (&Value::Null, &Value::Null));

    let body = json!({"scopes": ["collect"], "dailySpend": {"eth": "1000", "usdc": "0"}});
    let key = stack.create_key(&artist, &body).await.expect_success();
    let key = key.body["apiKey"].as_str().expect("a key");
    let me = Answer::of(stack.get("/me").header("x-api-key", key)).await.expect_success();
    assert_eq!((&me.body["credential"], &me.body["scopes"]), (&json!("key"), &json!(["collect"])));
    assert_eq!(me.body["key_id"], stack.list_keys(&artist).await[0]["id"]);
    assert_eq!(me.body["fresh_until"], Value::Null);
    assert_eq!(me.body["daily_spend"], json!({"eth": "1000", "usdc": "0"}));
    assert_eq!(me.body["left_today"], me.body["daily_spend"]);

    // With a passkey, a sign-in without it isn't fresh, and spends no more than a key.
    stack.added_passkey(&artist).await;
    let me = Answer::of(stack.get("/me").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(me.body["fresh_until"], Value::Null);
    assert!(me.body["daily_spend"]["eth"].is_string(), "{me:?}");
    Answer::of(stack.get("/me")).await.expect_error(401);
}

#[tokio::test]
async fn what_a_key_spent_is_not_left() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&artist.key, "Left", &["ar://left".to_owned()]).await;
    stack.set_balance(buyer.account, 1_000_000_000_000_000_000).await;
    let left = async || {
        let me = Answer::of(stack.get("/me").header("x-api-key", &buyer.key)).await.expect_success().body;
        me["left_today"]["eth"].as_str().expect("a number").parse::<u128>().expect("a number")
    };
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1});
    let (before, after) = within_one_window(DAY, async || {
        let before = left().await;
        stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
        (before, left().await)
    })
    .await;
    assert!(after < before, "nothing was counted");
}

#[tokio::test]
async fn own_profile_is_read_with_any_credential() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_collector().await, stack.new_collector().await);
    let public = Answer::of(stack.get(&format!("/artists/{}", artist.artist.wallet))).await.expect_success();
    for request in [
        stack.get("/artists/me").bearer_auth(&artist.artist.token),
        stack.get("/artists/me").header("x-api-key", &artist.key),
    ] {
        let own = Answer::of(request).await.expect_success();
        assert_eq!((&own.body, own.header("cache-control")), (&public.body, "no-store"));
    }
    let others = Answer::of(stack.get("/artists/me").bearer_auth(&other.artist.token)).await.expect_success();
    assert_ne!(others.body["artist_id"], public.body["artist_id"]);
    Answer::of(stack.get("/artists/me")).await.expect_error(401);
}
