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
    let wallet = &collector.artist.wallet;
    let code = |currency: &str| format!("{}/card/pay/8453/{wallet}?currency={currency}", stack.site());
    let with = |[eth, ether]: [&str; 2], [cents, dollars]: [&str; 2]| {
        json!({"address": wallet, "chainId": 8453, "onRamp": null, "balances": [
            {"currency": zero, "symbol": "ETH", "decimals": 18, "amount": eth, "decimalAmount": ether,
             "depositUri": format!("ethereum:{wallet}@8453"), "depositCode": code("ETH")},
            {"currency": usdc, "symbol": "USDC", "decimals": 6, "amount": cents, "decimalAmount": dollars,
             "depositUri": format!("ethereum:{usdc}@8453/transfer?address={wallet}"), "depositCode": code("USDC")},
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
async fn payment_has_a_code_for_a_camera() {
    let stack = Stack::connect();
    let account = "0x00000000000000000000000000000000000000a1";
    let read = |path: String| Answer::of(stack.http.get(format!("{}/card/pay/{path}", stack.site())));
    let code = read(format!("8453/{account}?currency=usdc&amount=7")).await.expect_success();
    assert_eq!(code.header("content-type"), "image/svg+xml; charset=utf-8");
    let usdc = stack.contract("usdc");
    let label = format!("aria-label=\"ethereum:{usdc:#x}@8453/transfer?address={account}&amp;uint256=7\"");
    assert!(code.body.as_str().is_some_and(|svg| svg.starts_with("<svg") && svg.contains(&label)), "{code:?}");
    for wrong in [format!("8453/{account}?currency=DOGE"), format!("8453/{account}?amount=-1")] {
        read(wrong).await.expect_error(400);
    }
    for unknown in [format!("7/{account}"), "8453/nobody".to_owned()] {
        assert_eq!(read(unknown).await.status, 404);
    }
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
