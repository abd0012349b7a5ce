//! `POST /moment/collect/prepare`, by a wallet that the service knows nothing of.

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use tests::{MINUTE, Sandbox, Stack, unused_address, within_one_window};

const PATH: &str = "/moment/collect/prepare";
/// The protocol's mint fee per token, in wei.
const FEE: u64 = 111_000_000_000_000;
const ETHER: u64 = 1_000_000_000_000_000_000;

fn sale(price: u64) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price.to_string(), "saleStart": 0, "saleEnd": u64::MAX.to_string()})
}

fn order(collection: Address, account: Address, amount: u64) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount, "account": account})
}

/// Waits until the index has a collection.
async fn published(stack: &Stack, key: &str, sale: Value) -> Address {
    let collection = stack.publish(key, sale, json!({})).await;
    let is_there = |body: &Value| body["moments"].as_array().is_some_and(|moments| moments.len() == 1);
    stack.wait_until(&format!("/timeline?collection={collection:#x}"), is_there).await;
    collection
}

#[tokio::test]
async fn wallet_collects_for_ether_with_one_call() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let collection = published(&stack, &artist.key, sale(1_000)).await;
    let wallet = PrivateKeySigner::random().address();
    let body = order(collection, wallet, 2);
    let answer = stack.post_json(PATH, &body).await.expect_error(402);
    assert!(
        answer.body["message"].as_str().is_some_and(|words| words.contains("needs 0.000222000000002 ETH, has 0 ETH")),
        "{answer:?}"
    );

    stack.set_balance(wallet, ETHER).await;
    let mut dear = body.clone();
    dear["maxPrice"] = json!("2000");
    let refused = stack.post_json(PATH, &dear).await.expect_error(409);
    assert_eq!(refused.body["price"], json!((2 * (FEE + 1_000)).to_string()), "{refused:?}");

    let mut said = body.clone();
    said["comment"] = json!("From my own wallet");
    let answer = stack.post_json(PATH, &said).await.expect_success();
    let cost =
        json!({"currency": "ETH", "amount": (2 * (FEE + 1_000)).to_string(), "decimalAmount": "0.000222000000002"});
    assert_eq!(
        (&answer.body["cost"], &answer.body["fee"], &answer.body["simulated"]),
        (&cost, &Value::Null, &json!(true))
    );
    assert_eq!(answer.body["calls"].as_array().map(Vec::len), Some(1), "{answer:?}");
    stack.send_calls(wallet, &answer.body["calls"]).await;
    assert_eq!(stack.tokens_of(wallet, collection).await, U256::from(2));
    let path = format!("/comments?collectionAddress={collection:#x}&tokenId=1");
    stack.wait_for_comment(&path, |comment| comment["comment"] == "From my own wallet").await;
    let payments = format!("/payments?artist={:#x}", artist.account);
    let is_paid = |body: &Value| {
        let payments = body["payments"].as_array().expect("payments");
        payments.iter().any(|payment| payment["buyer"]["address"] == json!(format!("{wallet:#x}")))
    };
    stack.wait_until(&payments, is_paid).await;
}

#[tokio::test]
async fn wallet_approves_dollars_once_and_then_only_collects() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let mut terms = sale(1_500_000);
    (terms["type"], terms["currency"]) = (json!("erc20Mint"), json!(stack.contract("usdc")));
    let collection = published(&stack, &artist.key, terms).await;
    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    stack.give_usdc(wallet, 5_000_000).await;
    let answer = stack.post_json(PATH, &order(collection, wallet, 2)).await.expect_success();
    assert_eq!(answer.body["cost"], json!({"currency": "USDC", "amount": "3000000", "decimalAmount": "3"}));
    assert_eq!(answer.body["fee"]["amount"], json!((2 * FEE).to_string()));
    assert_eq!(answer.body["calls"].as_array().map(Vec::len), Some(2), "{answer:?}");
    stack.send_calls(wallet, &json!([answer.body["calls"][0]])).await;
    let answer = stack.post_json(PATH, &order(collection, wallet, 2)).await.expect_success();
    assert_eq!(answer.body["calls"].as_array().map(Vec::len), Some(1), "{answer:?}");
    stack.send_calls(wallet, &answer.body["calls"]).await;
    assert_eq!(stack.tokens_of(wallet, collection).await, U256::from(2));
    assert_eq!(stack.usdc_of(wallet).await, U256::from(2_000_000));
}

#[tokio::test]
async fn what_cannot_be_collected_is_refused_and_a_client_asks_only_so_often() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let collection = published(&stack, &artist.key, sale(0)).await;
    let wallet = PrivateKeySigner::random().address();
    stack.set_balance(wallet, ETHER).await;
    stack.post_json(PATH, &order(Address::repeat_byte(7), wallet, 1)).await.expect_error(404);
    let mut unknown = order(collection, wallet, 1);
    unknown["moment"]["tokenId"] = json!("9");
    stack.post_json(PATH, &unknown).await.expect_error(404);
    let wrong = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 0, "account": "me"});
    let answer = stack.post_json(PATH, &wrong).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["amount", "account"]);
    let ended = json!({"moment": {"collectionAddress": collection, "tokenId": "1", "chainId": 8453}, "saleEnd": 1});
    stack.write("/sale", &artist.key, &ended, &[]).await.expect_success();
    let answer = stack.post_json(PATH, &order(collection, wallet, 1)).await.expect_error(422);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.starts_with("The sale is over")), "{answer:?}");

    let sandbox =
        Sandbox::with_variables(&stack, "prepare-collect", &[("WALLET_READS_PER_CLIENT_MINUTELY", "1")]).await;
    let body = order(collection, wallet, 1);
    let ask = async |client: &str| sandbox.post(client, &body).await.0;
    let statuses = within_one_window(MINUTE, async || {
        let client = unused_address();
        [ask(&client).await, ask(&client).await, ask(&unused_address()).await]
    })
    .await;
    assert_eq!(statuses, [422, 429, 422]);
}
