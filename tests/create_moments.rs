//! `POST /moment/create-batch`

use alloy::{primitives::Address, providers::Provider};
use serde_json::{Value, json};
use tests::{Answer, Stack, Writer};

const PATH: &str = "/moment/create-batch";

fn body(contract: Value, count: usize) -> Value {
    let token = |n: usize| {
        json!({
            "tokenMetadataURI": format!("ipfs://bafybatch/{n}.json"),
            "salesConfig": {"type": "fixedPrice", "pricePerToken": n.to_string(), "saleStart": 0, "saleEnd": u64::MAX},
        })
    };
    json!({"contract": contract, "tokens": (0..count).map(token).collect::<Vec<_>>()})
}

fn ids(range: std::ops::RangeInclusive<usize>) -> Value {
    range.map(|id| id.to_string()).collect()
}

#[tokio::test]
async fn batch_is_created_in_one_transaction() {
    let stack = Stack::connect();
    let Writer { artist, key, .. } = stack.new_writer().await;
    let new = json!({"name": "A Week", "uri": "ar://week"});
    let first = stack.write(PATH, &key, &body(new, 7), &[]).await.expect_success();
    assert_eq!(first.body["tokenIds"], ids(1..=7));
    let existing = json!({"address": first.body["contractAddress"]});
    let second = stack.write(PATH, &key, &body(existing, 3), &[]).await.expect_success();
    assert_eq!(second.body["tokenIds"], ids(8..=10));
    assert_eq!(second.body["contractAddress"], first.body["contractAddress"]);
    let account: Address = artist.wallet.parse().expect("an address");
    assert!(!stack.chain().get_code_at(account).await.expect("code").is_empty());
}

#[tokio::test]
async fn batch_of_fifty_is_accepted_and_fifty_one_refused() {
    let stack = Stack::connect();
    let Writer { key, .. } = stack.new_writer().await;
    let new = json!({"name": "A Year", "uri": "ar://year"});
    let answer = stack.write(PATH, &key, &body(new.clone(), 50), &[]).await.expect_success();
    assert_eq!(answer.body["tokenIds"], ids(1..=50));
    for (count, field) in [(51, "tokens"), (0, "tokens")] {
        let answer = stack.write_once(PATH, &key, &body(new.clone(), count), &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [field]);
    }
    let mut wrong = body(new, 3);
    wrong["tokens"][0]["tokenMetadataURI"] = json!("x");
    wrong["tokens"][2]["salesConfig"]["pricePerToken"] = json!("x");
    let answer = stack.write_once(PATH, &key, &wrong, &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["tokens.0.tokenMetadataURI", "tokens.2.salesConfig.pricePerToken"]);
}

#[tokio::test]
async fn batch_too_long_for_a_transaction_is_refused_before_it_is_queued() {
    let stack = Stack::connect();
    let Writer { artist, key, .. } = stack.new_writer().await;
    let mut long = body(json!({"name": "A Book", "uri": "ar://book"}), 50);
    for token in long["tokens"].as_array_mut().expect("tokens") {
        token["tokenMetadataURI"] = json!(format!("ar://{}", "x".repeat(2_000)));
    }
    let answer = stack.write_once(PATH, &key, &long, &[]).await.expect_error(422);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("bytes of calldata; one transaction takes at most 100000"), "{message}");
    let listed = Answer::of(stack.get("/transactions").bearer_auth(&artist.token)).await.expect_success();
    assert_eq!(listed.body["transactions"], json!([]));
}
