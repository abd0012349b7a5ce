//! `DELETE /artists/wallets?address=`

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
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

#[tokio::test]
async fn wallet_that_has_left_or_is_on_another_chain_proves_nothing_with_an_earlier_signature() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallets = [PrivateKeySigner::random(), PrivateKeySigner::random(), PrivateKeySigner::random()];
    let [left, moved, third] = wallets.each_ref().map(|wallet| format!("{:#x}", wallet.address()));
    for wallet in &wallets {
        stack.connect_old_wallet(&artist, wallet).await;
    }
    let by_left = stack.proof_by_wallet(&artist, &wallets[0], "disconnectWallet", &third).await;
    let by_moved = stack.proof_by_wallet(&artist, &wallets[1], "disconnectWallet", &third).await;
    stack.disconnect_wallet(&artist, &left).await.expect_success();
    // As if a contract with its address had proved itself on another chain.
    let chain = AttributeValue::N("10".to_owned());
    stack.set("ArtistTable", &format!("WALLET#{moved}"), "ARTIST", "chain", chain).await;
    for proof in [&by_left, &by_moved] {
        let refused = stack.disconnect_proved_wallet(&artist, &third, proof).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["proof"]);
    }
}

#[tokio::test]
async fn proofs_of_a_wallets_connection_and_of_its_end_are_used_once() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let (wallet, old) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    let address = format!("{:#x}", wallet.address());
    stack.connect_old_wallet(&artist, &old).await;
    let connecting = stack.proof_by_mail(&artist, "connectWallet", &address).await;
    stack.connect_proved_wallet(&artist, &wallet, &connecting).await.expect_success();
    let leaving = stack.proof_by_wallet(&artist, &old, "disconnectWallet", &address).await;
    stack.disconnect_proved_wallet(&artist, &address, &leaving).await.expect_success();

    let again = stack.connect_proved_wallet(&artist, &wallet, &connecting).await.expect_error(400);
    assert_eq!(again.failing_fields(), ["proof"]);
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    let again = stack.disconnect_proved_wallet(&artist, &address, &leaving).await.expect_error(400);
    assert_eq!(again.failing_fields(), ["proof"]);
}
