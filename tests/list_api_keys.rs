//! `GET /artists/api-keys`

use serde_json::{Value, json};
use tests::Stack;

#[tokio::test]
async fn keys_are_listed_newest_first_without_plaintext() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    assert_eq!(stack.list_keys(&artist).await, Vec::<Value>::new());
    let mut made = Vec::new();
    for name in ["first", "second", "third"] {
        let answer = stack.create_key(&artist, &json!({"name": name})).await.expect_success();
        made.push(answer.body["apiKey"].as_str().expect("a key").to_owned());
    }
    stack.create_key(&stack.new_artist().await, &json!({"name": "another artist's"})).await.expect_success();

    let keys = stack.list_keys(&artist).await;
    let names: Vec<_> = keys.iter().map(|key| key["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["third", "second", "first"]);
    for (key, plain) in keys.iter().zip(made.iter().rev()) {
        let mut fields: Vec<_> = key.as_object().expect("an object").keys().map(String::as_str).collect();
        fields.sort_unstable();
        let expected = ["created_at", "daily_spend", "expires_at", "id", "last_used_at", "name", "prefix", "scopes"];
        assert_eq!(fields, expected);
        let prefix = key["prefix"].as_str().expect("a prefix");
        assert!(plain.starts_with(prefix) && prefix.len() == 12, "{prefix}");
        assert!(!key.to_string().contains(plain), "the key shows");
        assert!(key["created_at"].as_str().is_some_and(|time| time.ends_with('Z') && time.contains('T')), "{key}");
        assert_eq!(key["last_used_at"], Value::Null);
    }
}
