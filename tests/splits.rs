//! `POST /splits`, `GET /splits/{network}/{address}` and `POST /splits/distribute`

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, ext::AnvilApi},
};
use serde_json::{Value, json};
use shared::chain::contracts::native::SplitFactory;
use tests::{Answer, Stack};

const PATH: &str = "/splits";

fn unused_account() -> Address {
    Address::from_slice(&[&[0xa1; 4][..], uuid::Uuid::new_v4().as_bytes()].concat())
}

fn recipients(shares: &[(Address, Value)]) -> Value {
    let recipient = |(address, percent): &(Address, Value)| json!({"address": address, "percentAllocation": percent});
    json!({"splits": shares.iter().map(recipient).collect::<Vec<_>>()})
}

async fn create(stack: &Stack, key: &str, body: &Value) -> Value {
    stack.write(PATH, key, body, &[]).await.expect_success().body
}

#[tokio::test]
async fn split_is_made_read_and_paid_out() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let (two, one) = (unused_account(), unused_account());
    let body = recipients(&[(one, json!("33.3333")), (two, json!(66.6667))]);
    let made = create(&stack, &collector.key, &body).await;
    assert_eq!(tests::fields(&made), ["chainId", "hash", "splitAddress"]);
    let split: Address = made["splitAddress"].as_str().expect("an address").parse().expect("an address");
    let address = format!("{split:#x}");
    let again = recipients(&[(two, json!("66.6667")), (one, json!(33.3333))]);
    assert_eq!(create(&stack, &collector.key, &again).await, json!({"splitAddress": address, "chainId": 8453}));
    // Headers are checked where nothing is left to be done, too.
    let late = stack.write_once(PATH, &collector.key, &again, &[("valid-until", "1700000000")]).await;
    late.expect_error(400);

    let path = format!("{PATH}/eip155:8453/{address}");
    let empty = stack.wait_until(&path, |body| body["waiting"].is_array()).await;
    let usdc = format!("{:#x}", stack.contract("usdc"));
    let zero = format!("0x{}", "0".repeat(40));
    let shown = |eth: &str, dollars: &str| {
        let mut shares = [(one, 33.3333), (two, 66.6667)];
        shares.sort_by_key(|(address, _)| *address);
        let recipient =
            |(address, percent)| json!({"artist_address": format!("{address:#x}"), "percent_allocation": percent});
        json!({"address": address, "chainId": 8453, "recipients": shares.map(recipient), "waiting": [
            {"currency": zero, "symbol": "ETH", "decimals": 18, "amount": eth},
            {"currency": usdc, "symbol": "USDC", "decimals": 6, "amount": dollars},
        ]})
    };
    let without_calls = |mut body: Value| {
        body.as_object_mut().expect("an object").remove("payout");
        body
    };
    assert_eq!(empty["payout"], json!([]));
    assert_eq!(without_calls(empty), shown("0", "0"));
    let pay_out = async |more: Value| {
        let mut body = json!({"splitAddress": address});
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        stack.write("/splits/distribute", &collector.key, &body, &[]).await
    };
    let nothing = pay_out(json!({})).await.expect_error(422);
    assert_eq!(nothing.body["message"], "Nothing waits in this split");

    stack.set_balance(split, 3_000_000).await;
    stack.give_usdc(split, 1_000_000).await;
    let waiting = Answer::of(stack.get(&path)).await.expect_success().body;
    assert_eq!(waiting["payout"].as_array().map(Vec::len), Some(2));
    assert_eq!(without_calls(waiting), shown("3000000", "1000000"));
    pay_out(json!({"currency": "USDC"})).await.expect_success();
    assert_eq!(stack.usdc_of(two).await, U256::from(666_667));
    assert_eq!(stack.chain().get_balance(two).await.expect("a balance"), U256::ZERO);
    pay_out(json!({"currency": usdc})).await.expect_error(422);
    pay_out(json!({})).await.expect_success();
    assert_eq!(stack.chain().get_balance(one).await.expect("a balance"), U256::from(999_999));
    assert_eq!(stack.usdc_of(one).await, U256::from(333_333));
    assert_eq!(without_calls(Answer::of(stack.get(&path)).await.expect_success().body), shown("0", "0"));

    // A wallet of anybody pays it out, too.
    stack.set_balance(split, 3_000_000).await;
    let wallet = unused_account();
    stack.set_balance(wallet, 1_000_000_000_000_000_000).await;
    let waiting = Answer::of(stack.get(&path)).await.expect_success().body;
    stack.send_calls(wallet, &waiting["payout"]).await;
    assert_eq!(stack.chain().get_balance(one).await.expect("a balance"), U256::from(2 * 999_999));
}

#[tokio::test]
async fn split_of_somebody_else_s_making_is_not_paid_out() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let owner = stack.demo_collection(0);
    let split = SplitFactory::SplitParams {
        recipients: vec![unused_account(), unused_account()],
        allocations: vec![U256::from(1), U256::from(1)],
        totalAllocation: U256::from(2),
        distributionIncentive: 0,
    };
    let sender = unused_account();
    stack.chain().anvil_impersonate_account(sender).await.expect("an account");
    stack.set_balance(sender, 1_000_000_000_000_000_000).await;
    let creation = SplitFactory::createSplitDeterministicCall { split, owner, creator: owner, salt: [7; 32].into() };
    let receipt = stack.transact(sender, stack.contract("splitFactory"), U256::ZERO, creation).await;
    let log = receipt.decoded_log::<SplitFactory::SplitCreated_0>().expect("a split");
    let path = format!("{PATH}/eip155:8453/{:#x}", log.split);
    let body = stack.wait_until(&path, |body| body["recipients"].is_array()).await;
    assert_eq!(body["recipients"][0]["percent_allocation"], 50);
    stack.set_balance(log.split, 10).await;
    assert_eq!(Answer::of(stack.get(&path)).await.expect_success().body["payout"], json!([]));
    let body = json!({"splitAddress": log.split});
    stack.write_once("/splits/distribute", &collector.key, &body, &[]).await.expect_error(422);
}

#[tokio::test]
async fn wrong_splits_are_refused() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let half = |address| (address, json!(50));
    let same = unused_account();
    for (body, fields) in [
        (json!({}), vec!["splits"]),
        (recipients(&[]), vec!["splits"]),
        (recipients(&[half(same)]), vec!["splits"]),
        (recipients(&[half(same), half(same)]), vec!["splits"]),
        (recipients(&[half(same), (unused_account(), json!(49.9999))]), vec!["splits"]),
    ] {
        let answer = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    Answer::of(stack.get(&format!("{PATH}/eip155:8453/{same:#x}"))).await.expect_error(404);
    Answer::of(stack.get(&format!("{PATH}/solana:1/0x1"))).await.expect_error(400);
    let pay_out = json!({"splitAddress": same});
    stack.write_once("/splits/distribute", &writer.key, &pay_out, &[]).await.expect_error(404);
    let wrong = json!({"splitAddress": same, "currency": "DOGE"});
    let answer = stack.write_once("/splits/distribute", &writer.key, &wrong, &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["currency"]);
}
