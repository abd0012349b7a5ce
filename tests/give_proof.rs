//! `PUT /artists/proofs`

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tests::{Stack, personal_sign};

#[tokio::test]
async fn proof_is_given_by_the_signature_it_asks_for_once_and_in_time() {
    let stack = Stack::connect();
    let (wallet, stranger) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    let artist = stack.sign_in_with_wallet(&wallet).await;
    let (subject, own) = (stranger.address(), wallet.address());
    let asking = json!({"act": "connectWallet", "subject": subject, "way": "wallet", "address": own});
    let asked = stack.ask_proof(&artist, &asking).await.expect_success().body;
    let (proof, message) = (&asked["proof"], asked["message"].as_str().expect("a message"));
    for wrong in [
        json!({"proof": proof, "code": "123456"}),
        json!({"proof": proof, "signature": personal_sign(&stranger, message)}),
        json!({"proof": proof, "signature": personal_sign(&wallet, "Another message")}),
    ] {
        let refused = stack.give_proof(&artist, &wrong).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["signature"], "{wrong}");
    }
    let right = json!({"proof": proof, "signature": personal_sign(&wallet, message)});
    stack.give_proof(&artist, &right).await.expect_success();
    assert_eq!(stack.give_proof(&artist, &right).await.expect_error(400).failing_fields(), ["proof"]);

    let late = stack.ask_proof(&artist, &asking).await.expect_success().body;
    let row = format!("PROOF#{}", late["proof"].as_str().expect("an id"));
    stack.set("SecretTable", &row, "PROOF", "expires_at", AttributeValue::N("1".to_owned())).await;
    let message = late["message"].as_str().expect("a message");
    let signed = json!({"proof": late["proof"], "signature": personal_sign(&wallet, message)});
    assert_eq!(stack.give_proof(&artist, &signed).await.expect_error(400).failing_fields(), ["proof"]);
}
