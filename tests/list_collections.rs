//! `GET /collections`

use serde_json::json;
use tests::{Answer, Stack, fields};

#[tokio::test]
async fn collections_of_an_artist_are_paged_newest_first() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let mut made = Vec::new();
    for name in ["One", "Two", "Three"] {
        made.insert(0, stack.release(&artist.key, name, &["ar://1".to_owned()]).await);
    }
    let path = format!("/collections?artist={}", artist.artist.wallet);
    let body = stack.wait_until(&path, |body| body["collections"].as_array().map(Vec::len) == Some(3)).await;
    assert_eq!(fields(&body), ["collections", "pagination", "status"]);
    assert_eq!(
        (&body["status"], &body["pagination"]),
        (&json!("success"), &json!({"page": 1, "limit": 20, "total_count": 3, "total_pages": 1}),)
    );
    for limit in [1, 2, 3] {
        let rows = stack.all_pages(&path, "collections", limit).await;
        let addresses: Vec<_> = rows.iter().map(|row| row["address"].as_str().expect("an address")).collect();
        assert_eq!(addresses, made, "{limit} a page");
    }
    let one = format!("/collections/eip155:8453/erc1155:{}", made[0]);
    let one = Answer::of(stack.get(&one)).await.expect_success().body;
    assert_eq!(fields(&body["collections"][0]), fields(&one));
    let last = Answer::of(stack.get(&format!("{path}&limit=2&page=2"))).await.expect_success();
    assert_eq!(last.body["pagination"], json!({"page": 2, "limit": 2, "total_count": 3, "total_pages": 2}));
    let beyond = Answer::of(stack.get(&format!("{path}&page=4294967295&limit=100"))).await.expect_success();
    assert_eq!(beyond.body["collections"], json!([]));

    // Without the artist there are others' collections; on another chain there are none.
    let everyone = Answer::of(stack.get("/collections?limit=100&unknown=1")).await.expect_success();
    assert!(everyone.body["collections"].as_array().is_some_and(|all| all.len() >= 5), "{everyone:?}");
    let elsewhere = Answer::of(stack.get(&format!("{path}&chain_id=1"))).await.expect_success();
    assert_eq!(elsewhere.body["pagination"], json!({"page": 1, "limit": 20, "total_count": 0, "total_pages": 0}));
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    for (query, wrong) in [
        ("artist=a", vec!["artist"]),
        ("chain_id=7", vec!["chain_id"]),
        ("limit=101", vec!["limit"]),
        ("limit=0", vec!["limit"]),
        ("page=0", vec!["page"]),
        ("page=1&page=2", vec!["page"]),
        ("artist=x&chain_id=x&limit=x&page=x", vec!["artist", "chain_id", "limit", "page"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/collections?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), wrong, "{query}");
    }
}
