//! `GET /artists/me/export`

use serde_json::{Value, json};
use tests::{Answer, Stack};

#[tokio::test]
async fn export_goes_on_where_a_page_ended() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let get =
        async |query: &str| Answer::of(stack.get(&format!("/artists/me/export{query}")).bearer_auth(&artist.token));
    let whole = get("").await.await.expect_success();
    assert_eq!(whole.header("link"), "");
    let rows = whole.body["rows"].as_array().expect("rows").clone();
    assert_eq!(rows[0]["sk"], "PROFILE");
    assert_eq!(rows[1]["email"], json!(artist.email));
    assert!(rows.iter().any(|row| row["kind"] == "signed_in"), "{rows:?}");
    let rest = get("?after=1:").await.await.expect_success().body["rows"].clone();
    assert_eq!(rest, Value::Array(rows[1..].to_vec()));
    assert_eq!(get("?after=99:").await.await.expect_success().body["rows"], json!([]));
    let wrong = get("?after=PROFILE").await.await.expect_error(400);
    assert_eq!(wrong.failing_fields(), ["after"]);
    Answer::of(stack.get("/artists/me/export")).await.expect_error(401);
    let key = stack.create_key(&artist, &json!({})).await.expect_success().body["apiKey"].clone();
    let by_key = stack.get("/artists/me/export").header("x-api-key", key.as_str().expect("a key"));
    Answer::of(by_key).await.expect_error(403);
}
