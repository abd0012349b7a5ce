//! `POST /collections`

use alloy::primitives::{Address, U256};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::{ReceiptHidingProxy, Sandbox, Stack};

const PATH: &str = "/collections";

#[tokio::test]
async fn collection_is_created_with_the_artist_s_account_as_admin() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let body = json!({"name": "Nachtzug 🚆", "uri": "ipfs://bafynight/collection.json"});
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
    let other = json!({"name": "Twice", "uri": "ar://once"});
    stack.write(PATH, &writer.key, &other, &key).await.expect_error(422);
}

#[tokio::test]
async fn unmined_write_is_202_and_complete_once_mined() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let receipt_hiding_proxy = ReceiptHidingProxy::in_front_of(&stack.map.rpc["8453"]).await;
    let nodes = json!({"8453": [receipt_hiding_proxy.url]}).to_string();
    let slow = Sandbox::with_variables(&stack, "create-collection", &[("RPC_URLS", &nodes)]).await;
    let body = json!({"name": "In a While", "uri": "ar://while"});
    let headers = [("x-api-key", writer.key.as_str()), ("idempotency-key", "in-a-while")];

    let (status, first) = slow.post_with("192.0.2.3", &body, &headers).await;
    assert_eq!(status, 202, "{first}");
    assert_eq!(first.as_object().map(serde_json::Map::len), Some(2), "{first}");
    let (status, still) = slow.post_with("192.0.2.3", &body, &headers).await;
    // The stack's own `settle-transactions` may have read the receipt by now, but not the collection's address.
    assert_eq!((status, &still), (202, &first));

    receipt_hiding_proxy.lift();
    let (status, whole) = slow.post_with("192.0.2.3", &body, &headers).await;
    assert_eq!(status, 200, "{whole}");
    assert_eq!(whole["hash"], first["hash"]);
    let address: Address = whole["contractAddress"].as_str().and_then(|text| text.parse().ok()).expect("an address");
    assert_eq!(Creator1155::new(address, stack.chain()).name().call().await.expect("a name"), "In a While");
}

#[tokio::test]
async fn foreign_account_is_refused() {
    let stack = Stack::connect();
    let (writer, other) = (stack.new_writer().await, stack.new_artist().await);
    let body = |account: &str| json!({"account": account, "name": "Mine", "uri": "ar://mine"});
    stack.write(PATH, &writer.key, &body(&writer.artist.wallet), &[]).await.expect_success();
    for foreign in [other.wallet.as_str(), "0x00000000000000000000000000000000000000a1"] {
        let answer = stack.write(PATH, &writer.key, &body(foreign), &[]).await.expect_error(400);
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
        let answer = stack.write(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    stack.write(PATH, "moments_wrong", &json!({}), &[]).await.expect_error(401);
}
