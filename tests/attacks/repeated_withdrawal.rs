//! A retry of what moves money, after an answer that was lost.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
};
use serde_json::{Value, json};
use tests::{Answer, Stack};

#[tokio::test]
async fn retried_withdrawal_is_paid_once() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let to = artist.account.create(7);
    stack.add_old_payout_address(&artist.artist, to).await;
    stack.set_balance(artist.account, 1_000).await;
    let send = async |key: Option<&str>, body: &Value| {
        let request = stack.post("/smartwallet/withdraw").bearer_auth(&artist.artist.token).json(body);
        Answer::of(key.into_iter().fold(request, |request, key| request.header("idempotency-key", key))).await
    };
    let order = json!({"to": to, "amount": "400", "unit": "wei"});
    let answer = send(None, &order).await.expect_error(400);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("Idempotency-Key")), "{answer:?}");
    let answers = futures::future::join_all((0..4).map(|_| send(Some("once"), &order))).await;
    assert!(answers.iter().all(|answer| [200, 202, 409].contains(&answer.status)), "{answers:?}");
    send(Some("once"), &order).await.expect_success();
    assert_eq!(stack.chain().get_balance(to).await.expect("a balance"), U256::from(400));
    send(Some("once"), &json!({"to": to, "amount": "500", "unit": "wei"})).await.expect_error(422);
    assert_eq!(stack.chain().get_balance(artist.account).await.expect("a balance"), U256::from(600));
}

#[tokio::test]
async fn collecting_and_airdrops_need_a_key_for_retries() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    for (path, body) in [
        ("/moment/collect", json!({"moment": moment, "amount": 1})),
        ("/moment/airdrop", json!({"moment": moment, "recipients": [Address::repeat_byte(1)]})),
    ] {
        let answer = Answer::of(stack.post(path).header("x-api-key", &writer.key).json(&body)).await.expect_error(400);
        assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("Idempotency-Key")), "{answer:?}");
    }
}
