//! `POST /artists/wallets` and `GET /artists/wallets`

use alloy::{
    primitives::{Address, address},
    signers::local::PrivateKeySigner,
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::{Answer, SignedIn, Stack, UndeployedSafe, personal_sign, safe_of, sign_as_safe};

/// An unlocked account that no other test sends from.
const SENDER: Address = address!("14dC79964da2C08b23698B3D3cc7Ca32193d9955");

#[tokio::test]
async fn signed_message_connects_the_wallet_once() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let embedded = json!({"address": artist.wallet, "type": "embedded"});
    assert_eq!(stack.wallets(&artist).await, std::slice::from_ref(&embedded));

    let wallet = PrivateKeySigner::random();
    let message = stack.message_for(&artist, wallet.address()).await;
    let signature = personal_sign(&wallet, &message);
    let answer = stack.prove(&artist, &message, &signature).await.expect_success();
    let external = json!({"address": lower(wallet.address()), "type": "external"});
    assert_eq!(answer.body, json!({"wallets": [embedded, external]}));
    assert_eq!(answer.body["wallets"], Value::from(stack.wallets(&artist).await));

    refused(&stack, &artist, &message, &signature, "message").await;
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    assert_eq!(stack.wallets(&artist).await.len(), 2, "a wallet was connected twice");
}

#[tokio::test]
async fn contract_wallet_verifies_its_own_signature() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let owner = PrivateKeySigner::random();
    let safe = safe_of(&stack, SENDER, owner.address()).await;
    let message = stack.message_for(&artist, safe).await;
    let stranger = PrivateKeySigner::random();
    let strangers = sign_as_safe(&stack, safe, &stranger, &message).await;
    refused(&stack, &artist, &message, &strangers, "signature").await;
    refused(&stack, &artist, &message, &personal_sign(&owner, &message), "signature").await;
    let signature = sign_as_safe(&stack, safe, &owner, &message).await;
    stack.prove(&artist, &message, &signature).await.expect_success();
    assert_eq!(stack.wallets(&artist).await[1], json!({"address": lower(safe), "type": "smart"}));

    // The Safe isn't deployed on chain 1, so its signature can't be verified there.
    let elsewhere = stack.challenge(&stack.new_artist().await, &json!({"address": safe, "chainId": 1})).await;
    assert_eq!(elsewhere.status, 200);
    let other = stack.new_artist().await;
    let answer = stack.challenge(&other, &json!({"address": safe, "chainId": 1})).await.expect_success();
    let message = answer.body["message"].as_str().expect("a message").to_owned();
    let signature = sign_as_safe(&stack, safe, &owner, &message).await;
    refused(&stack, &other, &message, &signature, "signature").await;
}

/// It proved itself on one chain: elsewhere its address may be another's.
#[tokio::test]
async fn nothing_is_made_out_to_a_contract_wallet() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let (safe, own) = (UndeployedSafe::new(&stack).await, PrivateKeySigner::random());
    let message = stack.message_for(&writer.artist, safe.address).await;
    stack.prove(&writer.artist, &message, &safe.sign(8453, &message, None)).await.expect_success();
    stack.connect_wallet(&writer.artist, &own).await.expect_success();
    let make = async |account: Address| {
        let body = json!({"name": "Made out", "uri": "ar://made-out", "account": account});
        stack.write("/collections", &writer.key, &body, &[]).await
    };
    assert_eq!(make(safe.address).await.expect_error(400).failing_fields(), ["account"]);
    make(own.address()).await.expect_success();
}

#[tokio::test]
async fn other_messages_and_signatures_are_refused() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let (wallet, stranger) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    let message = stack.message_for(&artist, wallet.address()).await;
    let right = personal_sign(&wallet, &message);

    refused(&stack, &other, &message, &right, "message").await;
    let altered = message.replace("Chain ID: 8453", "Chain ID: 1");
    refused(&stack, &artist, &altered, &personal_sign(&wallet, &altered), "message").await;
    refused(&stack, &artist, &personal_sign(&wallet, "hello"), &right, "message").await;
    for (wrong, field) in [("", "signature"), ("0x", "signature"), ("0x0", "signature"), ("hello", "signature")] {
        refused(&stack, &artist, &message, wrong, field).await;
    }
    refused(&stack, &artist, &message, &personal_sign(&stranger, &message), "signature").await;
    refused(&stack, &artist, &message, &personal_sign(&wallet, &altered), "signature").await;
    refused(&stack, &artist, &message, &right[..130], "signature").await;
    assert_eq!(stack.wallets(&artist).await.len(), 1);

    // Two of the message's five tries are left.
    stack.prove(&artist, &message, &right).await.expect_success();
}

#[tokio::test]
async fn message_expires_after_five_tries_or_ten_minutes() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallet = PrivateKeySigner::random();
    let message = stack.message_for(&artist, wallet.address()).await;
    let wrong = personal_sign(&PrivateKeySigner::random(), &message);
    for _ in 0..5 {
        refused(&stack, &artist, &message, &wrong, "signature").await;
    }
    refused(&stack, &artist, &message, &personal_sign(&wallet, &message), "message").await;

    let message = stack.message_for(&artist, wallet.address()).await;
    let row = format!("CHALLENGE#{:x}", Sha256::digest(&message));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs();
    stack.set("SecretTable", &row, "CHALLENGE", "expires_at", AttributeValue::N(now.to_string())).await;
    refused(&stack, &artist, &message, &personal_sign(&wallet, &message), "message").await;
    assert_eq!(stack.wallets(&artist).await.len(), 1);
}

#[tokio::test]
async fn concurrent_connects_of_a_wallet_give_it_to_one_artist() {
    let stack = Stack::connect();
    let (ada, grace) = (stack.new_artist().await, stack.new_artist().await);
    let wallet = PrivateKeySigner::random();
    let answers =
        futures::future::join(stack.connect_wallet(&ada, &wallet), stack.connect_wallet(&grace, &wallet)).await;
    let mut outcomes = [(answers.0, &ada), (answers.1, &grace)];
    outcomes.sort_by_key(|(answer, _)| answer.status);
    let [(won, winner), (lost, loser)] = outcomes;
    won.expect_success();
    lost.expect_error(409);
    assert_eq!(stack.wallets(winner).await.len(), 2);
    assert_eq!(stack.wallets(loser).await.len(), 1);
}

#[tokio::test]
async fn concurrent_connects_stop_at_ten_wallets() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallets: Vec<_> = (0..12).map(|_| PrivateKeySigner::random()).collect();
    let mut connected = 0;
    for batch in wallets.chunks(4) {
        let answers = futures::future::join_all(batch.iter().map(|wallet| stack.connect_wallet(&artist, wallet))).await;
        assert!(answers.iter().all(|answer| [200, 409].contains(&answer.status)), "{answers:?}");
        connected += answers.iter().filter(|answer| answer.status == 200).count();
    }
    assert_eq!(connected, 9);
    assert_eq!(stack.wallets(&artist).await.len(), 10);
    let refused = stack.connect_wallet(&artist, &PrivateKeySigner::random()).await.expect_error(409);
    assert!(refused.body["message"].as_str().is_some_and(|text| text.contains("disconnect")), "{refused:?}");
}

#[tokio::test]
async fn connected_wallet_can_receive_a_collection() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let wallet = PrivateKeySigner::random();
    let account = lower(wallet.address());
    let body = json!({"name": "Mine", "uri": "ipfs://mine", "account": account});
    stack.write_once("/collections", &writer.key, &body, &[]).await.expect_error(400);
    stack.connect_wallet(&writer.artist, &wallet).await.expect_success();
    stack.write("/collections", &writer.key, &body, &[]).await.expect_success();
}

async fn refused(stack: &Stack, artist: &SignedIn, message: &str, signature: &str, field: &str) {
    let answer: Answer = stack.prove(artist, message, signature).await.expect_error(400);
    assert_eq!(answer.failing_fields(), [field], "{answer:?}");
}

fn lower(address: Address) -> String {
    format!("{address:#x}")
}
