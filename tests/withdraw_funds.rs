//! `POST /smartwallet/withdraw`

use alloy::{
    primitives::{Address, U256, keccak256},
    providers::Provider,
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use tests::{Answer, Collector, Stack};

async fn withdraw(stack: &Stack, collector: &Collector, body: Value) -> Answer {
    stack.withdraw(&collector.artist, &body).await
}

async fn wei_of(stack: &Stack, account: Address) -> U256 {
    stack.chain().get_balance(account).await.expect("a balance")
}

#[tokio::test]
async fn artist_withdraws_part_or_all_of_a_balance() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let wallet = PrivateKeySigner::random();
    stack.connect_old_wallet(&collector.artist, &wallet).await;
    let to = wallet.address();
    stack.set_balance(collector.account, 1_000_000).await;
    let answer =
        withdraw(&stack, &collector, json!({"to": to, "amount": "250000", "unit": "wei"})).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    assert_eq!(wei_of(&stack, to).await, U256::from(250_000));
    withdraw(&stack, &collector, json!({"to": to, "amount": "max", "currency": "eth"})).await.expect_success();
    assert_eq!(
        (wei_of(&stack, to).await, wei_of(&stack, collector.account).await),
        (U256::from(1_000_000), U256::ZERO)
    );

    stack.give_usdc(collector.account, 3_000_000).await;
    let to = Address::from_word(keccak256(collector.account));
    stack.add_old_payout_address(&collector.artist, to).await;
    let dollars = json!({"to": to, "amount": "1000000", "currency": stack.contract("usdc")});
    withdraw(&stack, &collector, dollars).await.expect_success();
    withdraw(&stack, &collector, json!({"to": to, "amount": "max", "currency": "USDC"})).await.expect_success();
    assert_eq!((stack.usdc_of(to).await, stack.usdc_of(collector.account).await), (U256::from(3_000_000), U256::ZERO));
}

#[tokio::test]
async fn amount_in_the_main_unit_is_exact() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let to = Address::from_word(keccak256(collector.account));
    stack.add_old_payout_address(&collector.artist, to).await;
    stack.give_usdc(collector.account, 30_000_000).await;
    let clear = json!({"to": to, "amount": "25", "currency": "USDC"});
    let answer = withdraw(&stack, &collector, clear).await.expect_error(400);
    assert!(answer.body["errors"][0]["message"].as_str().is_some_and(|words| words.contains("unit")), "{answer:?}");
    for (amount, unit) in
        [("25", json!("main")), ("1.000001", json!("main")), ("7", json!("wei")), ("100", json!(null))]
    {
        let body = json!({"to": to, "amount": amount, "unit": unit, "currency": "USDC"});
        withdraw(&stack, &collector, body).await.expect_success();
    }
    assert_eq!(stack.usdc_of(to).await, U256::from(26_000_108));
    stack.set_balance(collector.account, 1_000_000_000_000_000_000).await;
    let body = json!({"to": to, "amount": "0.000000000000000003", "unit": "main"});
    withdraw(&stack, &collector, body).await.expect_success();
    withdraw(&stack, &collector, json!({"to": to, "amount": "100000000000000"})).await.expect_success();
    assert_eq!(wei_of(&stack, to).await, U256::from(100_000_000_000_003_u64));
}

#[tokio::test]
async fn amount_above_the_balance_is_refused() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let to = Address::repeat_byte(0x77);
    stack.add_old_payout_address(&collector.artist, to).await;
    for (body, words) in [
        (json!({"to": to, "amount": "max"}), "has no ETH"),
        (json!({"to": to, "amount": "max", "currency": "USDC"}), "has no USDC"),
        (json!({"to": to, "amount": "1", "unit": "wei"}), "needs 0.000000000000000001 ETH, has 0 ETH"),
        (json!({"to": to, "amount": "1500000", "currency": "usdc"}), "needs 1.5 USDC, has 0 USDC"),
    ] {
        let answer = withdraw(&stack, &collector, body).await.expect_error(402);
        assert!(answer.body["message"].as_str().is_some_and(|message| message.contains(words)), "{answer:?}");
    }
}

#[tokio::test]
async fn invalid_recipient_or_amount_is_refused() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    stack.set_balance(collector.account, 1_000).await;
    let to = Address::repeat_byte(0x77);
    for (body, fields) in [
        (json!({}), vec!["to", "amount"]),
        (json!({"to": collector.account, "amount": "1", "unit": "wei"}), vec!["to"]),
        (json!({"to": stack.contract("usdc"), "amount": "1", "currency": "USDC"}), vec!["to"]),
        (json!({"to": stack.contract("factory"), "amount": "1"}), vec!["to"]),
        (json!({"to": format!("0x{}", "0".repeat(40)), "amount": "1"}), vec!["to"]),
        (json!({"to": "0x540c18b7f99b3b599c6FeB99964498931c211858", "amount": "1"}), vec!["to"]),
        (json!({"to": to, "amount": "0"}), vec!["amount"]),
        (json!({"to": to, "amount": "-1"}), vec!["amount"]),
        (json!({"to": to, "amount": "1.5"}), vec!["amount"]),
        (json!({"to": to, "amount": "1.5", "unit": "wei"}), vec!["amount"]),
        (json!({"to": to, "amount": "25"}), vec!["amount"]),
        (json!({"to": to, "amount": "99999999999999"}), vec!["amount"]),
        (json!({"to": to, "amount": "99", "currency": "USDC"}), vec!["amount"]),
        (json!({"to": to, "amount": "0.0000001", "currency": "USDC", "unit": "main"}), vec!["amount"]),
        (json!({"to": to, "amount": "0.0", "unit": "main"}), vec!["amount"]),
        (json!({"to": to, "amount": "9".repeat(78), "unit": "main"}), vec!["amount"]),
        (json!({"to": to, "amount": ".5", "unit": "main"}), vec!["amount"]),
        (json!({"to": to, "amount": "1", "unit": "eth"}), vec!["unit"]),
        (json!({"to": to, "amount": 1}), vec!["amount"]),
        (json!({"to": to, "amount": "MAX"}), vec!["amount"]),
        (json!({"to": to, "amount": "1", "currency": "DAI"}), vec!["currency"]),
        (json!({"to": to, "amount": "1", "currency": to}), vec!["currency"]),
        (json!({"to": to, "amount": "1", "chainId": 10}), vec!["chainId"]),
    ] {
        let answer = withdraw(&stack, &collector, body.clone()).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    assert_eq!(wei_of(&stack, collector.account).await, U256::from(1_000));
    let nobody = stack.post("/smartwallet/withdraw").json(&json!({"to": to, "amount": "max"}));
    Answer::of(nobody).await.expect_error(401);
}
