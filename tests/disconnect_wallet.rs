//! `DELETE /artists/wallets?address=`

use alloy::signers::local::PrivateKeySigner;
use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn disconnected_wallet_can_be_connected_by_another_artist() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let wallet = PrivateKeySigner::random();
    let address = format!("{:#x}", wallet.address());
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    Answer::of(stack.get(&format!("/artists/{address}"))).await.expect_success();

    stack.disconnect_wallet(&other, &address).await.expect_error(404);
    let answer = stack.disconnect_wallet(&artist, &address.to_uppercase().replace('X', "x")).await.expect_success();
    assert_eq!(answer.body, json!({"wallets": [{"address": artist.wallet, "type": "embedded"}]}));
    stack.disconnect_wallet(&artist, &address).await.expect_error(404);
    Answer::of(stack.get(&format!("/artists/{address}?fresh"))).await.expect_error(404);

    stack.connect_wallet(&other, &wallet).await.expect_success();
    assert_eq!(stack.wallets(&other).await.len(), 2);
}

#[tokio::test]
async fn embedded_wallet_cannot_be_disconnected() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    stack.disconnect_wallet(&artist, &artist.wallet).await.expect_error(409);
    assert_eq!(stack.wallets(&artist).await.len(), 1);
}

#[tokio::test]
async fn invalid_address_is_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for address in ["", "0x1", "ada.eth"] {
        let answer = stack.disconnect_wallet(&artist, address).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["address"]);
    }
}
