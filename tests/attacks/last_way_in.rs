//! A token is stolen, or its owner mistaken: it removes what the artist signs in with, one by one and at once.

use std::collections::HashMap;

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use local::artists::prove_by_mail;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::{Answer, SignedIn, Stack, ceremony_of, unused_email};

use super::stolen_token::old_token;

/// How often removals are sent at once: they needn't meet each time.
const ROUNDS: usize = 4;

fn lower(wallet: &PrivateKeySigner) -> String {
    format!("{:#x}", wallet.address())
}

/// A new artist who has a wallet and nothing else.
async fn walleted(stack: &Stack) -> (SignedIn, PrivateKeySigner) {
    let wallet = PrivateKeySigner::random();
    (stack.sign_in_with_wallet(&wallet).await, wallet)
}

/// Disconnects a wallet with the signature of one of the artist's.
async fn disconnect_by(
    stack: &Stack,
    artist: &SignedIn,
    wallet: &PrivateKeySigner,
    signer: &PrivateKeySigner,
) -> Answer {
    let proof = stack.proof_by_wallet(artist, signer, "disconnectWallet", &lower(wallet)).await;
    stack.disconnect_proved_wallet(artist, lower(wallet), &proof).await
}

/// When a wallet leaves; null unless it is to.
async fn leaves_at(stack: &Stack, artist: &SignedIn, wallet: &PrivateKeySigner) -> Value {
    let wallets = stack.wallets(artist).await;
    wallets.iter().find(|listed| listed["address"] == lower(wallet)).expect("the wallet")["leaves_at"].clone()
}

#[track_caller]
fn expect_last(answer: Answer) {
    let refused = answer.expect_error(409);
    let words = refused.body["message"].as_str().expect("a message");
    assert!(words.contains("is your only way in. Add another one first"), "{words}");
}

#[track_caller]
fn expect_one_refusal(first: Answer, second: Answer) {
    let mut answers = [first, second];
    answers.sort_unstable_by_key(|answer| answer.status);
    let [removed, refused] = answers;
    removed.expect_success();
    expect_last(refused);
}

#[tokio::test]
async fn only_wallet_stays_until_another_one_is_connected() {
    let stack = Stack::connect();
    let (artist, first) = walleted(&stack).await;
    expect_last(stack.disconnect_wallet(&artist, lower(&first)).await);
    assert_eq!(stack.wallets(&artist).await.len(), 2);
    assert_eq!(stack.sign_in_with_wallet(&first).await.wallet, artist.wallet);

    let second = PrivateKeySigner::random();
    stack.connect_old_wallet(&artist, &second).await;
    disconnect_by(&stack, &artist, &first, &first).await.expect_success();
    expect_last(stack.disconnect_wallet(&artist, lower(&second)).await);
    expect_last(disconnect_by(&stack, &artist, &second, &second).await);
    assert_eq!(stack.sign_in_with_wallet(&second).await.wallet, artist.wallet);
}

#[tokio::test]
async fn wallet_leaves_with_its_signature_or_after_a_week_that_it_can_stop() {
    let stack = Stack::connect();
    let ((artist, first), second) = (walleted(&stack).await, PrivateKeySigner::random());
    stack.connect_old_wallet(&artist, &second).await;
    // By a token alone.
    let left = stack.disconnect_wallet(&artist, lower(&first)).await.expect_success();
    let end = leaves_at(&stack, &artist, &first).await;
    assert!(end.is_string(), "{left:?}");
    stack.disconnect_wallet(&artist, lower(&first)).await.expect_success();
    assert_eq!(leaves_at(&stack, &artist, &first).await, end, "it still has its week");
    stack.connect_wallet(&artist, &first).await.expect_success();
    assert_eq!(leaves_at(&stack, &artist, &first).await, Value::Null);

    let proof = stack.proof_by_wallet(&artist, &second, "disconnectWallet", &lower(&second)).await;
    let refused = stack.disconnect_proved_wallet(&artist, lower(&first), &proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"]);
    stack.disconnect_proved_wallet(&artist, lower(&second), &proof).await.expect_success();
    assert_eq!(stack.wallets(&artist).await.len(), 2);

    stack.connect_old_wallet(&artist, &second).await;
    stack.disconnect_wallet(&artist, lower(&first)).await.expect_success();
    let past = AttributeValue::N("1700000000".to_owned());
    let leaving = HashMap::from([("address".to_owned(), AttributeValue::S(lower(&first))), ("at".to_owned(), past)]);
    let profile = format!("ARTIST#{}", stack.artist_id(&artist));
    stack.set("ArtistTable", &profile, "PROFILE", "leaving", AttributeValue::L(vec![AttributeValue::M(leaving)])).await;
    stack.disconnect_wallet(&artist, lower(&first)).await.expect_success();
    assert_eq!(stack.wallets(&artist).await.len(), 2);
    assert_eq!(stack.sign_in_with_wallet(&second).await.wallet, artist.wallet);
}

#[tokio::test]
async fn leaving_wallet_is_no_way_in() {
    let stack = Stack::connect();
    let ((artist, first), second) = (walleted(&stack).await, PrivateKeySigner::random());
    stack.connect_old_wallet(&artist, &second).await;
    stack.disconnect_wallet(&artist, lower(&first)).await.expect_success();
    expect_last(stack.disconnect_wallet(&artist, lower(&second)).await);
    expect_last(disconnect_by(&stack, &artist, &second, &second).await);
    let by_first =
        json!({"act": "disconnectWallet", "subject": lower(&second), "way": "wallet", "address": lower(&first)});
    assert_eq!(stack.ask_proof(&artist, &by_first).await.expect_error(400).failing_fields(), ["address"]);

    let mut passkey = stack.added_passkey_of_wallet(&artist, &second).await;
    disconnect_by(&stack, &artist, &second, &second).await.expect_success();
    let id = stack.only_passkey(&artist).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    let removal = id.as_str().expect("an id");
    let removal = stack.proof_by_passkey(&by_passkey, &mut passkey, "removePasskey", removal).await;
    expect_last(stack.remove_passkey(&by_passkey, &id, &removal).await);

    // Whoever has lost the passkey keeps the wallet, and does no more with it.
    let by_wallet = stack.sign_in_with_wallet(&first).await;
    stack.connect_wallet(&by_wallet, &PrivateKeySigner::random()).await.expect_error(401);
    let stolen = SignedIn { token: old_token(&stack, &by_wallet).await, ..by_wallet.clone() };
    stack.connect_wallet(&stolen, &first).await.expect_error(401);
    stack.connect_wallet(&by_wallet, &first).await.expect_success();
    stack.remove_passkey(&by_passkey, &id, &removal).await.expect_success();
}

#[tokio::test]
async fn mail_address_counts_once_it_signs_in() {
    let stack = Stack::connect();
    let ((artist, wallet), mailbox) = (walleted(&stack).await, unused_email());
    let new = prove_by_mail(&stack.map, &artist.token, &mailbox, "newEmail", &mailbox).await.expect("a proof");
    let own = stack.proof_by_wallet(&artist, &wallet, "changeEmail", &mailbox).await;
    let change = json!({"email": mailbox, "newProof": new, "proof": own});
    let change = stack.post("/artists/email").bearer_auth(&artist.token).json(&change);
    Answer::of(change).await.expect_success();
    // It can be stopped for seven days.
    expect_last(stack.disconnect_wallet(&artist, lower(&wallet)).await);

    let past = || AttributeValue::N("1700000000".to_owned());
    let next = HashMap::from([("email".to_owned(), AttributeValue::S(mailbox.clone())), ("from".to_owned(), past())]);
    let contact = format!("CONTACT#{}", stack.artist_id(&artist));
    stack.set("ArtistTable", &contact, "EMAIL", "next", AttributeValue::M(next)).await;
    stack.set("ArtistTable", &format!("EMAIL#{mailbox}"), "ARTIST", "since", past()).await;
    stack.disconnect_wallet(&artist, lower(&wallet)).await.expect_success();
    assert_eq!(stack.sign_in(&mailbox).await.wallet, artist.wallet);
}

#[tokio::test]
async fn passkey_counts_unless_it_is_to_be_removed() {
    let stack = Stack::connect();
    let (artist, wallet) = walleted(&stack).await;
    let mut passkey = stack.added_passkey_of_wallet(&artist, &wallet).await;
    let id = stack.only_passkey(&artist).await;
    let name = id.as_str().expect("an id");
    let proof = stack.proof_by_wallet(&artist, &wallet, "removePasskey", name).await;
    stack.remove_passkey(&artist, &id, &proof).await.expect_success();
    // The passkey signs in for seven days, and then nothing would.
    expect_last(stack.disconnect_wallet(&artist, lower(&wallet)).await);

    let own = stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await;
    let other = stack.proof_by_wallet(&artist, &wallet, "keepPasskey", name).await;
    stack.keep_passkey(&artist, &id, &[&own, &other]).await.expect_success();
    let artist = stack.sign_in_with_passkey(&mut passkey).await;
    disconnect_by(&stack, &artist, &wallet, &wallet).await.expect_success();
    let proof = stack.proof_by_passkey(&artist, &mut passkey, "removePasskey", name).await;
    expect_last(stack.remove_passkey(&artist, &id, &proof).await);
}

#[tokio::test]
async fn wallet_of_today_is_no_other_way_in() {
    let stack = Stack::connect();
    let ((artist, first), planted) = (walleted(&stack).await, PrivateKeySigner::random());
    stack.connect_wallet(&artist, &planted).await.expect_success();
    expect_last(stack.disconnect_wallet(&artist, lower(&first)).await);
    stack.disconnect_wallet(&artist, lower(&planted)).await.expect_success();
    assert_eq!(stack.sign_in_with_wallet(&first).await.wallet, artist.wallet);
}

#[tokio::test]
async fn passkey_of_today_is_no_other_way_in() {
    let stack = Stack::connect();
    let (artist, wallet) = walleted(&stack).await;
    let (_, body) = stack.made_passkey(&artist.token).await;
    let proof = stack.proof_by_wallet(&artist, &wallet, "addPasskey", ceremony_of(&body)).await;
    stack.add_passkey(&artist, &body, &proof).await.expect_success();
    expect_last(stack.disconnect_wallet(&artist, lower(&wallet)).await);
    stack.age_passkeys(&artist).await;
    stack.disconnect_wallet(&artist, lower(&wallet)).await.expect_success();
}

#[tokio::test]
async fn stopped_mailbox_is_no_other_way_in() {
    let stack = Stack::connect();
    let (artist, wallet) = (stack.new_artist().await, PrivateKeySigner::random());
    stack.connect_old_wallet(&artist, &wallet).await;
    let stopped = format!("STOPPED#{:x}", Sha256::digest(&artist.email));
    let until = async |time: &str| {
        let time = AttributeValue::N(time.to_owned());
        stack.set("SecretTable", &stopped, "STOPPED", "expires_at", time).await;
    };
    until("4000000000").await;
    expect_last(stack.disconnect_wallet(&artist, lower(&wallet)).await);
    until("1700000000").await;
    stack.disconnect_wallet(&artist, lower(&wallet)).await.expect_success();
}

#[tokio::test]
async fn of_two_wallets_that_are_disconnected_at_once_one_stays() {
    let stack = Stack::connect();
    for _ in 0..ROUNDS {
        let ((artist, first), second) = (walleted(&stack).await, PrivateKeySigner::random());
        stack.connect_old_wallet(&artist, &second).await;
        let by_first = stack.proof_by_wallet(&artist, &first, "disconnectWallet", &lower(&first)).await;
        let by_second = stack.proof_by_wallet(&artist, &second, "disconnectWallet", &lower(&second)).await;
        let (one, other) = futures::join!(
            stack.disconnect_proved_wallet(&artist, lower(&first), &by_first),
            stack.disconnect_proved_wallet(&artist, lower(&second), &by_second),
        );
        expect_one_refusal(one, other);
        assert_eq!(stack.wallets(&artist).await.len(), 2);
    }
}

#[tokio::test]
async fn of_a_wallet_and_a_passkey_that_are_removed_at_once_one_stays() {
    let stack = Stack::connect();
    for _ in 0..ROUNDS {
        let (artist, wallet) = walleted(&stack).await;
        let mut passkey = stack.added_passkey_of_wallet(&artist, &wallet).await;
        let id = stack.only_passkey(&artist).await;
        let name = id.as_str().expect("an id");
        let proof = stack.proof_by_passkey(&artist, &mut passkey, "removePasskey", name).await;
        let leaving = stack.proof_by_wallet(&artist, &wallet, "disconnectWallet", &lower(&wallet)).await;
        let (one, other) = futures::join!(
            stack.disconnect_proved_wallet(&artist, lower(&wallet), &leaving),
            stack.remove_passkey(&artist, &id, &proof)
        );
        expect_one_refusal(one, other);
        let left = stack.wallets(&artist).await.len() + stack.passkeys(&artist).await.len();
        assert_eq!(left, 2, "the embedded wallet and a way in");
    }
}

#[tokio::test]
async fn of_two_passkeys_that_are_removed_at_once_one_stays() {
    let stack = Stack::connect();
    for _ in 0..ROUNDS {
        let (artist, wallet) = walleted(&stack).await;
        let mut passkey = stack.added_passkey_of_wallet(&artist, &wallet).await;
        let first = stack.only_passkey(&artist).await;
        let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
        let mut other = stack.added_passkey_of_wallet(&by_passkey, &wallet).await;
        let both = stack.passkeys(&artist).await;
        let second = both.iter().find(|passkey| passkey["id"] != first).expect("another passkey")["id"].clone();
        disconnect_by(&stack, &by_passkey, &wallet, &wallet).await.expect_success();
        // Each by its own answer, which counts whichever is faster; with the wallet's token, which neither ends.
        let name = |id: &Value| id.as_str().expect("an id").to_owned();
        let one = stack.proof_by_passkey(&artist, &mut passkey, "removePasskey", &name(&first)).await;
        let two = stack.proof_by_passkey(&artist, &mut other, "removePasskey", &name(&second)).await;
        let (one, two) =
            futures::join!(stack.remove_passkey(&artist, &first, &one), stack.remove_passkey(&artist, &second, &two),);
        expect_one_refusal(one, two);
    }
}
