//! `POST /collections`

use alloy::primitives::{Address, U256};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::Stack;

const PATH: &str = "/collections";

#[tokio::test]
async fn collection_is_created_with_the_artist_s_account_as_admin() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let body = json!({"name": "Nachtzug 🚆", "uri": "ipfs://bafynight/collection.json", "royaltyBps": 0});
    let answer = stack.write(PATH, &writer.key, &body, &[]).await.expect_success();
    let mut fields: Vec<_> = answer.body.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["chainId", "contractAddress", "hash"]);
    assert_eq!(answer.body["chainId"], 8453);

    let address = answer.body["contractAddress"].as_str().expect("an address");
    assert_eq!(address, address.to_lowercase());
    let account: Address = writer.artist.wallet.parse().expect("an address");
    let collection = Creator1155::new(address.parse().expect("an address"), stack.chain());
    assert_eq!(collection.name().call().await.expect("a name"), "Nachtzug 🚆");
    assert_eq!(collection.nextTokenId().call().await.expect("a number"), U256::ONE);
    let shown = stack.wait_until(&format!("/collections/eip155:8453/erc1155:{address}"), |_| true).await;
    assert_eq!(shown["royalty"], json!({"bps": 0, "recipient": writer.artist.wallet}));
    assert_eq!(collection.permissions(U256::ZERO, account).call().await.expect("permissions"), U256::from(2));
}

#[tokio::test]
async fn retry_with_the_same_idempotency_key_is_replayed() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let body = json!({"name": "Once", "uri": "ar://once"});
    let key = [("idempotency-key", "once-and-only-once")];
    let first = stack.write(PATH, &writer.key, &body, &key).await.expect_success();
    let again = stack.write(PATH, &writer.key, &body, &key).await.expect_success();
    assert_eq!(first.body, again.body);
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), ("", "true"));
    assert_eq!(first.header("transaction-id"), again.header("transaction-id"));
    // Its time is over, and what it did stays; what is no time is refused, as in a first request.
    let until = |time: &'static str| [key[0], ("valid-until", time)];
    let again = stack.write_once(PATH, &writer.key, &body, &until("1")).await.expect_success();
    assert_eq!(first.header("transaction-id"), again.header("transaction-id"));
    stack.write_once(PATH, &writer.key, &body, &until("9223372036854775808")).await.expect_error(400);
    let other = json!({"name": "Twice", "uri": "ar://once"});
    stack.write_once(PATH, &writer.key, &other, &key).await.expect_error(422);
}

#[tokio::test]
async fn equal_requests_without_an_idempotency_key_are_two_writes() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let body = json!({"name": "Twice", "uri": "ar://twice"});
    let first = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_queued();
    let second = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_queued();
    assert_eq!((first.header("idempotent-replayed"), second.header("idempotent-replayed")), ("", ""));
    assert_ne!(first.header("transaction-id"), second.header("transaction-id"));
}

#[tokio::test]
async fn foreign_account_is_refused() {
    let stack = Stack::connect();
    let (writer, other) = (stack.new_writer().await, stack.new_artist().await);
    let body = |account: &str| json!({"account": account, "name": "Mine", "uri": "ar://mine"});
    stack.write(PATH, &writer.key, &body(&writer.artist.wallet), &[]).await.expect_success();
    for foreign in [other.wallet.as_str(), "0x00000000000000000000000000000000000000a1"] {
        let answer = stack.write_once(PATH, &writer.key, &body(foreign), &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["account"]);
    }
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let split = |entries: Value| json!({"name": "x", "uri": "ar://x", "splits": entries});
    let half = |n: u8| json!({"address": format!("0x{n:040x}"), "percentAllocation": 50});
    for (body, fields) in [
        (json!({}), vec!["name", "uri"]),
        (json!({"name": "", "uri": "http://x"}), vec!["name", "uri"]),
        (json!({"name": "x".repeat(201), "uri": "ar://x"}), vec!["name"]),
        (json!({"name": "x", "uri": "ar://x", "chainId": 10}), vec!["chainId"]),
        (json!({"name": "x", "uri": "ar://x", "account": "0x1"}), vec!["account"]),
        (split(json!([half(1)])), vec!["splits"]),
        (split(json!([half(1), half(1)])), vec!["splits"]),
        (split(json!([half(1), {"address": format!("0x{:040x}", 2), "percentAllocation": 49.9999}])), vec!["splits"]),
        (
            split(json!([{"address": "0x1", "percentAllocation": 0}, half(2)])),
            vec!["splits.0.address", "splits.0.percentAllocation"],
        ),
        (split(json!("all")), vec!["splits"]),
    ] {
        let answer = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    stack.write_once(PATH, "moments_wrong", &json!({}), &[]).await.expect_error(401);
}
