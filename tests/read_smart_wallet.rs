//! `GET /smartwallet`

use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn balances_of_an_artist_s_account_are_public() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let path = format!("/smartwallet?address={}", collector.account);
    let zero = format!("0x{}", "0".repeat(40));
    let usdc = format!("{:#x}", stack.contract("usdc"));
    let with = |[eth, ether]: [&str; 2], [cents, dollars]: [&str; 2]| {
        json!({"address": collector.artist.wallet, "chainId": 8453, "balances": [
            {"currency": zero, "symbol": "ETH", "decimals": 18, "amount": eth, "decimalAmount": ether},
            {"currency": usdc, "symbol": "USDC", "decimals": 6, "amount": cents, "decimalAmount": dollars},
        ]})
    };
    assert_eq!(Answer::of(stack.get(&path)).await.expect_success().body, with(["0"; 2], ["0"; 2]));
    stack.set_balance(collector.account, 1_234_567_890_123_456_789).await;
    stack.give_usdc(collector.account, 2_500_000).await;
    // Balances are kept for two seconds.
    let expected = with(["1234567890123456789", "1.234567890123456789"], ["2500000", "2.5"]);
    stack.wait_until(&path, |now| *now == expected).await;
}

#[tokio::test]
async fn address_without_an_artist_is_404() {
    let stack = Stack::connect();
    let usdc = stack.contract("usdc");
    Answer::of(stack.get(&format!("/smartwallet?address={usdc}"))).await.expect_error(404);
    for (query, fields) in [("", vec!["address"]), ("address=0x1&chainId=10", vec!["address", "chainId"])] {
        let answer = Answer::of(stack.get(&format!("/smartwallet?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields);
    }
}
