//! `POST /moment/collect`

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    sol_types::SolCall,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::{Answer, Collector, Stack};

const PATH: &str = "/moment/collect";
/// The protocol's mint fee per token, in wei.
const FEE: u64 = 111_000_000_000_000;
const ETHER: u64 = 1_000_000_000_000_000_000;
const FOREVER: u64 = u64::MAX;

fn order(collection: Address, amount: u64, comment: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": amount, "comment": comment})
}

fn fixed(price: u64) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price.to_string(), "saleStart": 0, "saleEnd": FOREVER.to_string()})
}

async fn collect(stack: &Stack, collector: &Collector, collection: Address, amount: u64) -> Answer {
    stack.write(PATH, &collector.key, &order(collection, amount, ""), &[]).await
}

async fn wei_of(stack: &Stack, account: Address) -> U256 {
    stack.chain().get_balance(account).await.expect("a balance")
}

fn message(answer: &Answer) -> &str {
    answer.body["message"].as_str().expect("a message")
}

#[tokio::test]
async fn collector_pays_price_and_fee_and_comments() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.publish(&artist.key, fixed(1_000), json!({})).await;

    let answer = collect(&stack, &collector, collection, 2).await.expect_error(402);
    let account = format!("{:#x}", collector.account);
    for part in ["needs 0.000222000000002 ETH", "has 0 ETH", &account] {
        assert!(message(&answer).contains(part), "{answer:?}");
    }
    let cost = 2 * (FEE + 1_000);
    stack.set_balance(collector.account, cost - 1).await;
    let answer = collect(&stack, &collector, collection, 2).await.expect_error(402);
    assert!(message(&answer).contains("has 0.000222000000001999 ETH"), "{answer:?}");
    let missing = json!([{"currency": "ETH", "amount": "1", "decimalAmount": "0.000000000000000001",
        "balance": "222000000001999"}]);
    assert_eq!(answer.body["missing"], missing);

    stack.set_balance(collector.account, ETHER).await;
    let (earned, body) = (wei_of(&stack, artist.account).await, order(collection, 2, "Mine 🌅"));
    let answer = stack.write(PATH, &collector.key, &body, &[("idempotency-key", "one")]).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    let again = stack.write(PATH, &collector.key, &body, &[("idempotency-key", "one")]).await.expect_success();
    assert_eq!(again.body, answer.body);
    assert_eq!(stack.tokens_of(collector.account, collection).await, U256::from(2));
    assert_eq!(wei_of(&stack, collector.account).await, U256::from(ETHER - cost));
    assert_eq!(wei_of(&stack, artist.account).await, earned + U256::from(2_000));

    let path = format!("/comments?collectionAddress={collection}&tokenId=1");
    let comment = stack.wait_for_comment(&path, |comment| comment["comment"] == "Mine 🌅").await;
    assert_eq!((&comment["sender"], &comment["commentId"]), (&json!(account), &Value::Null));
}

#[tokio::test]
async fn free_moment_costs_only_the_fee() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.publish(&artist.key, fixed(0), json!({})).await;
    stack.set_balance(collector.account, 3 * FEE).await;
    let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 3});
    stack.write(PATH, &collector.key, &body, &[]).await.expect_success();
    assert_eq!(stack.tokens_of(collector.account, collection).await, U256::from(3));
    assert!(wei_of(&stack, collector.account).await.is_zero());
}

#[tokio::test]
async fn usdc_sale_takes_the_price_in_usdc_and_the_fee_in_ether() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_collector().await, stack.new_collector().await);
    let mut sale = fixed(1_500_000);
    sale["type"] = json!("erc20Mint");
    sale["currency"] = json!(stack.contract("usdc"));
    let collection = stack.publish(&artist.key, sale, json!({})).await;

    let answer = collect(&stack, &collector, collection, 2).await.expect_error(402);
    for part in ["needs 3 USDC, has 0 USDC", "needs 0.000222 ETH, has 0 ETH"] {
        assert!(message(&answer).contains(part), "{answer:?}");
    }
    stack.set_balance(collector.account, 2 * FEE).await;
    let answer = collect(&stack, &collector, collection, 2).await.expect_error(402);
    assert!(!message(&answer).contains("ETH"), "{answer:?}");

    stack.give_usdc(collector.account, 5_000_000).await;
    let body = order(collection, 2, "worth it");
    stack.write(PATH, &collector.key, &body, &[]).await.expect_success();
    assert_eq!(stack.tokens_of(collector.account, collection).await, U256::from(2));
    assert_eq!(stack.usdc_of(collector.account).await, U256::from(2_000_000));
    // The protocol takes 5 % and returns a seventh of it to the royalty recipient.
    assert_eq!(stack.usdc_of(artist.account).await, U256::from(2_850_000 + 21_342));
    assert!(wei_of(&stack, collector.account).await.is_zero());
    let path = format!("/comments?collectionAddress={collection}&tokenId=1");
    stack.wait_for_comment(&path, |comment| comment["comment"] == "worth it").await;
}

#[tokio::test]
async fn timed_sale_takes_only_the_fee() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_collector().await, stack.new_collector().await);
    let mut sale = fixed(0);
    sale["type"] = json!("timed");
    let collection = stack.publish(&artist.key, sale, json!({})).await;
    stack.set_balance(collector.account, 4 * FEE).await;
    stack.write(PATH, &collector.key, &order(collection, 4, "in time"), &[]).await.expect_success();
    assert_eq!(stack.tokens_of(collector.account, collection).await, U256::from(4));
    assert!(wei_of(&stack, collector.account).await.is_zero());
    collect(&stack, &collector, collection, 1).await.expect_error(402);
}

#[tokio::test]
async fn uncollectable_moment_is_refused_with_the_reason() {
    let stack = Stack::connect();
    let (artist, collector) = (stack.new_collector().await, stack.new_collector().await);
    stack.set_balance(collector.account, ETHER).await;
    let with = |name: &str, value: Value| {
        let mut sale = fixed(0);
        sale[name] = value;
        sale
    };
    let mut foreign = with("type", json!("erc20Mint"));
    foreign["pricePerToken"] = json!("10000");
    foreign["currency"] = json!(stack.contract("factory"));
    for (sale, more, amount, words) in [
        (with("saleStart", json!(4_000_000_000_u64)), json!({}), 1, "starts at 2096-10-02T07:06:40Z"),
        (with("maxTokensPerAddress", json!(2)), json!({}), 3, "2 of this moment at most"),
        (fixed(0), json!({"maxSupply": 3, "mintToCreatorCount": 1}), 3, "Only 2"),
        (fixed(0), json!({"maxSupply": 1, "mintToCreatorCount": 1}), 1, "sold out"),
        (foreign, json!({}), 1, "can't pay with"),
    ] {
        let collection = stack.publish(&artist.key, sale, more).await;
        let answer = collect(&stack, &collector, collection, amount).await.expect_error(422);
        assert!(message(&answer).contains(words), "{answer:?}");
        assert!(stack.tokens_of(collector.account, collection).await.is_zero());
    }

    let ended = stack.publish(&artist.key, fixed(0), json!({})).await;
    let end = json!({"moment": {"collectionAddress": ended, "tokenId": "1"}, "saleEnd": 1_000_000_000});
    stack.write("/sale", &artist.key, &end, &[]).await.expect_success();
    let answer = collect(&stack, &collector, ended, 1).await.expect_error(422);
    assert!(message(&answer).contains("ended at 2001-09-09T01:46:40Z"), "{answer:?}");

    let limited = stack.publish(&artist.key, with("maxTokensPerAddress", json!(2)), json!({})).await;
    collect(&stack, &collector, limited, 2).await.expect_success();
    let answer = collect(&stack, &collector, limited, 1).await.expect_error(422);
    assert!(message(&answer).contains("has had 2"), "{answer:?}");

    let writer = stack.new_writer().await;
    let bare = Creator1155::setupNewTokenCall { newURI: "ar://bare".to_owned(), maxSupply: U256::ONE };
    stack.send(local::contracts::DEPLOYER, writer.collection, bare.abi_encode()).await;
    let mut body = order(writer.collection, 1, "");
    body["moment"]["tokenId"] = json!("2");
    let answer = stack.write_once(PATH, &collector.key, &body, &[]).await.expect_error(422);
    assert!(message(&answer).contains("not for sale"), "{answer:?}");
    for (collection, token) in [(writer.collection, "3"), (writer.collection, "0"), (Address::repeat_byte(9), "1")] {
        body["moment"] = json!({"collectionAddress": collection, "tokenId": token});
        stack.write_once(PATH, &collector.key, &body, &[]).await.expect_error(404);
    }
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let valid = order(Address::repeat_byte(1), 1, "");
    let with = |name: &str, value: Value| {
        let mut body = valid.clone();
        body[name] = value;
        body
    };
    for (body, fields) in [
        (json!({}), vec!["moment", "amount"]),
        (with("amount", json!(0)), vec!["amount"]),
        (with("amount", json!(1_001)), vec!["amount"]),
        (with("amount", json!(1.5)), vec!["amount"]),
        (with("amount", json!(-1)), vec!["amount"]),
        (with("comment", json!("é".repeat(1_001))), vec!["comment"]),
        (with("comment", json!("two\nlines")), vec!["comment"]),
        (with("comment", json!(7)), vec!["comment"]),
    ] {
        let answer = stack.write_once(PATH, &collector.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    Answer::of(stack.post(PATH).json(&valid)).await.expect_error(401);
}
