//! Parameters that no endpoint reads.

use serde_json::json;
use tests::{Answer, Stack};

const HEADER: &str = "x-ignored-parameters";

#[tokio::test]
async fn parameters_that_are_not_read_are_named() {
    let stack = Stack::connect();
    for (path, expected) in [
        ("/timeline?limit=1", ""),
        ("/timeline?limit=1&nonsense=1&a%0Ab=2", "a%0Ab, nonsense"),
        ("/chains?nonsense=1", "nonsense"),
        ("/collectors?period=all&sort=asc", "sort"),
    ] {
        let answer = Answer::of(stack.get(path)).await.expect_success();
        assert_eq!(
            answer.headers.get(HEADER).and_then(|names| names.to_str().ok()).unwrap_or_default(),
            expected,
            "{path}"
        );
    }
    let missing = Answer::of(stack.get("/timeline?limit=0&nonsense=1")).await.expect_error(400);
    assert_eq!(missing.header(HEADER), "nonsense");
}

#[tokio::test]
async fn unknown_fields_of_a_body_are_refused() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let body = json!({
        "moment": {"collectionAddress": writer.collection, "tokenId": "1", "chainid": 8453},
        "newURI": "ar://named",
        "note": {"inner": 1},
    });
    let answer = stack.write_once("/registry/metadata/moment", &writer.key, &body, &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["newUri", "moment.chainid", "newURI", "note"]);
    let message = answer.body["message"].as_str().expect("a message");
    assert_eq!(message, "newUri is required (and 3 more: see errors)");
}

#[tokio::test]
async fn empty_parameters_of_a_query_are_left_out() {
    let stack = Stack::connect();
    for path in ["/timeline?artist=&chainId=&limit=1", "/collections?artist=", "/artists/search?query=ab&limit="] {
        Answer::of(stack.get(path)).await.expect_success();
    }
}

#[tokio::test]
async fn filters_of_other_services_are_refused() {
    let stack = Stack::connect();
    let answer = Answer::of(stack.get("/timeline?channel=x")).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["channel"]);
}
