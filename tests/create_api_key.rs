//! `POST /artists/api-keys`

use serde_json::json;
use shared::auth::api_key::PlainKey;
use tests::{Answer, Stack};

#[tokio::test]
async fn key_is_created_without_a_body() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let answer = Answer::of(stack.post("/artists/api-keys").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(answer.header("cache-control"), "no-store");
    let key = answer.body["apiKey"].as_str().expect("a key");
    assert!(PlainKey::parse(key).is_some(), "{key} has no valid checksum");

    // Generated clients send a content type with an empty body.
    let request = stack.post("/artists/api-keys").bearer_auth(&artist.token).header("content-type", "application/json");
    let second = Answer::of(request).await.expect_success();
    assert_ne!(second.body["apiKey"], key);
}

#[tokio::test]
async fn key_name_is_trimmed_and_validated() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    stack.create_key(&artist, &json!({"name": "  Студия 🎨 "})).await.expect_success();
    assert_eq!(stack.list_keys(&artist).await[0]["name"], "Студия 🎨");
    for name in [json!(""), json!("   "), json!("x".repeat(101)), json!(7), json!("a\nb")] {
        let answer = stack.create_key(&artist, &json!({"name": name})).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["name"], "{name}");
    }
    let text = stack.post("/artists/api-keys").bearer_auth(&artist.token).body("name=x");
    Answer::of(text).await.expect_error(415);
    assert_eq!(stack.list_keys(&artist).await.len(), 1);
}

#[tokio::test]
async fn concurrent_creations_stop_at_ten_keys() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let body = json!({});
    let mut made = 0;
    for _ in 0..3 {
        let answers = futures::future::join_all((0..8).map(|_| stack.create_key(&artist, &body))).await;
        assert!(answers.iter().all(|answer| [200, 409].contains(&answer.status)), "{answers:?}");
        made += answers.iter().filter(|answer| answer.status == 200).count();
    }
    assert_eq!(made, 10);
    let keys = stack.list_keys(&artist).await;
    assert_eq!(keys.len(), 10);
    let refused = stack.create_key(&artist, &body).await.expect_error(409);
    assert!(refused.body["message"].as_str().is_some_and(|text| text.contains("revoke")), "{refused:?}");

    stack.revoke_key(&artist, keys[0]["id"].as_str().expect("an id")).await.expect_success();
    stack.create_key(&artist, &body).await.expect_success();
    stack.create_key(&artist, &body).await.expect_error(409);
}
