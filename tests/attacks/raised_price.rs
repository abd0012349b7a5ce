//! A seller raises the price just before a collector's order arrives.

use alloy::{primitives::U256, providers::Provider};
use serde_json::json;
use tests::Stack;

const FEE: u64 = 111_000_000_000_000;
const ETHER: u64 = 1_000_000_000_000_000_000;

#[tokio::test]
async fn order_with_a_maximum_price_buys_nothing_dearer() {
    let stack = Stack::connect();
    let (seller, collector) = (stack.new_collector().await, stack.new_collector().await);
    let sale = json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let collection = stack.publish(&seller.key, sale, json!({})).await;
    stack.set_balance(collector.account, ETHER).await;
    let moment = json!({"collectionAddress": collection, "tokenId": "1"});
    let fair = 2 * (FEE + 1_000);
    let order = |most: u64| json!({"moment": moment, "amount": 2, "maxPrice": most.to_string()});
    let collect = async |most: u64| stack.write("/moment/collect", &collector.key, &order(most), &[]).await;

    let raise = json!({"moment": moment, "pricePerToken": "1000000000"});
    stack.write("/sale", &seller.key, &raise, &[]).await.expect_success();
    let answer = collect(fair).await.expect_error(409);
    assert_eq!(answer.body["price"], (2 * (FEE + 1_000_000_000)).to_string());
    assert!(stack.tokens_of(collector.account, collection).await.is_zero());
    assert_eq!(stack.chain().get_balance(collector.account).await.expect("a balance"), U256::from(ETHER));
    collect(2 * (FEE + 1_000_000_000)).await.expect_success();
    assert_eq!(stack.tokens_of(collector.account, collection).await, U256::from(2));
    let wrong = json!({"moment": moment, "amount": 2, "maxPrice": "1.5"});
    let answer = stack.write_once("/moment/collect", &collector.key, &wrong, &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["maxPrice"]);
}
