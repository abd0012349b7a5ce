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
    let request = |body: &Value| {
        let request = stack.post("/smartwallet/withdraw").bearer_auth(&artist.artist.token);
        request.header("idempotency-key", "once").json(body)
    };
    let order = json!({"to": to, "amount": "400", "unit": "wei"});
    let answers = futures::future::join_all((0..4).map(|_| Answer::of(request(&order)))).await;
    assert!(answers.iter().all(|answer| [200, 202, 409].contains(&answer.status)), "{answers:?}");
    Answer::of_write(request(&order)).await.expect_success();
    assert_eq!(stack.chain().get_balance(to).await.expect("a balance"), U256::from(400));
    Answer::of(request(&json!({"to": to, "amount": "500", "unit": "wei"}))).await.expect_error(422);
    assert_eq!(stack.chain().get_balance(artist.account).await.expect("a balance"), U256::from(600));
}

#[tokio::test]
async fn same_request_without_a_key_is_paid_once() {
    let stack = Stack::connect();
    let (writer, fan) = (stack.new_writer().await, stack.new_collector().await);
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    stack.set_balance(fan.account, 1_000_000_000_000_000_000).await;
    let order = json!({"moment": moment, "amount": 1});
    let order = || stack.post("/moment/collect").header("x-api-key", &fan.key).json(&order);
    let answers = futures::future::join_all((0..4).map(|_| Answer::of(order()))).await;
    assert!(answers.iter().all(|answer| [200, 202, 409].contains(&answer.status)), "{answers:?}");
    let again = Answer::of_repeated(order()).await.expect_success();
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(stack.tokens_of(fan.account, writer.collection).await, U256::ONE);

    let gift = json!({"moment": moment, "recipients": [Address::repeat_byte(1)]});
    let gift = || Answer::of_repeated(stack.post("/moment/airdrop").header("x-api-key", &writer.key).json(&gift));
    gift().await.expect_success();
    assert_eq!(gift().await.expect_success().header("idempotent-replayed"), "true");

    let to = fan.account.create(7);
    stack.add_old_payout_address(&fan.artist, to).await;
    let order = json!({"to": to, "amount": "400", "unit": "wei"});
    let payout =
        || Answer::of_repeated(stack.post("/smartwallet/withdraw").bearer_auth(&fan.artist.token).json(&order));
    payout().await.expect_success();
    assert_eq!(payout().await.expect_success().header("idempotent-replayed"), "true");
    assert_eq!(stack.chain().get_balance(to).await.expect("a balance"), U256::from(400));
}
