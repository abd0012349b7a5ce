//! `GET /.well-known/jwks.json`

use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn key_set_is_public_without_private_parts() {
    let stack = Stack::connect();
    let answer = Answer::of(stack.get("/.well-known/jwks.json")).await.expect_success();
    assert_eq!(
        answer.header("cache-control"),
        "public, max-age=3600, stale-while-revalidate=7200, stale-if-error=86400"
    );
    let keys = answer.body["keys"].as_array().expect("keys");
    assert_eq!(keys.len(), 1);
    let key = keys[0].as_object().expect("a key");
    let mut fields: Vec<_> = key.keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
    for (field, value) in [("kty", "EC"), ("crv", "P-256"), ("alg", "ES256"), ("use", "sig")] {
        assert_eq!(key[field], json!(value));
    }
}
