//! `POST /moment/create/simulate`

use alloy::{primitives::Address, providers::Provider, signers::local::PrivateKeySigner};
use serde_json::json;
use tests::Stack;

const PATH: &str = "/moment/create/simulate";

#[tokio::test]
async fn simulation_returns_gas_and_sends_nothing() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1", "saleStart": 0, "saleEnd": u64::MAX});
    let token = json!({"tokenMetadataURI": "ar://x", "salesConfig": sale});
    let body = |contract| json!({"contract": contract, "token": token});
    let new = body(json!({"name": "Never", "uri": "ar://never"}));
    let answer = stack.write(PATH, &writer.key, &new, &[]).await.expect_success();
    assert_eq!(answer.body["success"], true);
    let gas = answer.body["gas"].as_u64().expect("gas");
    assert!((300_000..5_000_000).contains(&gas), "{gas}");

    let account: Address = writer.artist.wallet.parse().expect("an address");
    assert!(stack.chain().get_code_at(account).await.expect("code").is_empty(), "the account was deployed");
    let others = stack.new_writer().await.collection;
    stack.write_once(PATH, &writer.key, &body(json!({"address": others})), &[]).await.expect_error(403);
}

#[tokio::test]
async fn simulation_takes_a_connected_wallet_as_account() {
    let stack = Stack::connect();
    let (writer, wallet) = (stack.new_writer().await, PrivateKeySigner::random());
    stack.connect_wallet(&writer.artist, &wallet).await.expect_success();
    let sale = json!({"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0});
    let token = json!({"tokenMetadataURI": "ar://x", "salesConfig": sale});
    let mut body =
        json!({"contract": {"name": "Never", "uri": "ar://never"}, "token": token, "account": wallet.address()});
    stack.write(PATH, &writer.key, &body, &[]).await.expect_success();
    body["account"] = json!(PrivateKeySigner::random().address());
    let refusal = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
    assert_eq!(refusal.failing_fields(), ["account"]);
}
