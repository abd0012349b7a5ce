//! `POST /oauth/login`

use alloy::{primitives::Address, providers::Provider};
use aws_sdk_dynamodb::types::AttributeValue;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, jwk::JwkSet};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shared::model::Email;
use tests::{Answer, Sandbox, Stack, another_code, unused_email};

#[tokio::test]
async fn every_sign_in_returns_a_token_and_the_same_wallet() {
    let stack = Stack::connect();
    let first = stack.new_artist().await;
    let again = stack.sign_in(&first.email.to_uppercase()).await;
    assert_eq!(first.wallet, again.wallet);
    assert_eq!(first.wallet, first.wallet.to_lowercase());
    assert_ne!(first.token, again.token);
    let other = stack.new_artist().await;
    assert_ne!(first.wallet, other.wallet, "two artists share an account");

    let wallet: Address = first.wallet.parse().expect("an address");
    let code = stack.chain().get_code_at(wallet).await.expect("code");
    assert!(code.is_empty(), "the first sign-in deployed the account");
}

#[tokio::test]
async fn token_verifies_with_the_published_keys() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let header = decode_header(&artist.token).expect("a header");
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::ES256, Some("at+jwt")));

    let keys = Answer::of(stack.get("/.well-known/jwks.json")).await.expect_success();
    let keys: JwkSet = serde_json::from_value(keys.body).expect("a key set");
    let key = keys.find(&header.kid.expect("a key id")).expect("the key is published");
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_audience(&["moments"]);
    validation.set_issuer(&[&stack.map.api]);
    let token = decode::<Value>(&artist.token, &DecodingKey::from_jwk(key).expect("a key"), &validation);
    let claims = token.expect("a valid token").claims;
    let number = |claim: &str| claims[claim].as_u64().expect(claim);
    assert_eq!(number("exp") - number("iat"), 3600);
    for id in ["sub", "jti"] {
        claims[id].as_str().and_then(|id| uuid::Uuid::parse_str(id).ok()).expect(id);
    }
    assert_eq!(claims.as_object().map(|claims| claims.len()), Some(6), "{claims}");
}

#[tokio::test]
async fn every_invalid_code_gets_the_same_401() {
    let stack = Stack::connect();
    let mut refusals = Vec::new();

    refusals.push(("never asked", stack.log_in(&unused_email(), "123456").await));

    let email = unused_email();
    let code = stack.code_for(&email).await;
    refusals.push(("wrong", stack.log_in(&email, &another_code(&code)).await));
    stack.log_in(&email, &code).await.expect_success();
    refusals.push(("used", stack.log_in(&email, &code).await));

    let email = unused_email();
    let superseded = stack.code_for(&email).await;
    let newest = stack.code_for(&email).await;
    if superseded != newest {
        refusals.push(("superseded", stack.log_in(&email, &superseded).await));
    }
    stack.log_in(&email, &newest).await.expect_success();

    let email = unused_email();
    let code = stack.code_for(&email).await;
    for row in ["CODE", &row_of_this_client()] {
        stack.set("SecretTable", &row_of(&email), row, "expires_at", AttributeValue::N("1".to_owned())).await;
    }
    refusals.push(("expired", stack.log_in(&email, &code).await));

    for (reason, answer) in &refusals {
        let answer = answer.clone().expect_error(401);
        assert_eq!(answer.body, refusals[0].1.body, "{reason}");
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{reason}: {answer:?}");
    }
}

#[tokio::test]
async fn newest_code_works_on_the_device_that_asked_first() {
    let stack = Stack::connect();
    let send_code = Sandbox::with_variables(&stack, "send-code", &[]).await;
    let email = unused_email();
    stack.code_for(&email).await;
    let (status, _) = send_code.post("198.51.100.77", &json!({"email": email})).await;
    assert_eq!(status, 200);
    let newest = local::mail::newest_code(&stack.map.mail, &email, 1).await.expect("a second code");
    stack.log_in(&email, &newest).await.expect_success();
    stack.log_in(&email, &newest).await.expect_error(401);
}

#[tokio::test]
async fn code_is_void_after_five_wrong_tries() {
    let stack = Stack::connect();
    let email = unused_email();
    let code = stack.code_for(&email).await;
    for _ in 0..4 {
        stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    }
    stack.log_in(&email, &code).await.expect_success();

    let email = unused_email();
    let code = stack.code_for(&email).await;
    for _ in 0..5 {
        stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    }
    stack.log_in(&email, &code).await.expect_error(401);
}

#[tokio::test]
async fn concurrent_wrong_tries_are_counted_up_to_five() {
    let stack = Stack::connect();
    let email = unused_email();
    let code = stack.code_for(&email).await;
    let wrong = another_code(&code);
    let answers = futures::future::join_all((0..20).map(|_| stack.log_in(&email, &wrong))).await;
    assert!(answers.iter().all(|answer| answer.status == 401), "{answers:?}");
    let row = stack.row("SecretTable", &row_of(&email), &row_of_this_client()).await.expect("the code's row");
    assert_eq!(row["tries"], AttributeValue::N("5".to_owned()));
    stack.log_in(&email, &code).await.expect_error(401);
}

#[tokio::test]
async fn concurrent_right_tries_give_one_token() {
    let stack = Stack::connect();
    for _ in 0..5 {
        let email = unused_email();
        let code = stack.code_for(&email).await;
        let (first, second) = futures::join!(stack.log_in(&email, &code), stack.log_in(&email, &code));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{first:?} {second:?}");
    }
}

#[tokio::test]
async fn code_is_not_stored_in_plain_text() {
    let stack = Stack::connect();
    let email = unused_email();
    let code = stack.code_for(&email).await;
    let row = stack.row("SecretTable", &row_of(&email), &row_of_this_client()).await.expect("the code's row");
    let mut stored: Vec<_> = row.keys().map(String::as_str).collect();
    stored.sort_unstable();
    assert_eq!(stored, ["expires_at", "holder", "issued_at", "link", "mac", "pk", "sk", "tries"]);
    assert!(!format!("{row:?}").contains(&email));
    let AttributeValue::S(mac) = &row["mac"] else { panic!("no MAC") };
    assert_eq!((mac.len(), mac.contains(&code)), (64, false));
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let email = unused_email();
    for (body, fields) in [
        (json!({}), vec!["email", "code"]),
        (json!({"email": "ada", "code": "12345"}), vec!["email", "code"]),
        (json!({"email": email, "code": "1234567"}), vec!["code"]),
        (json!({"email": email, "code": "12a456"}), vec!["code"]),
        (json!({"email": email, "code": 123456}), vec!["code"]),
        (json!({"email": email, "code": ""}), vec!["code"]),
        (json!({"code": "123456"}), vec!["email"]),
    ] {
        let answer = stack.post_json("/oauth/login", &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
}

/// The row of a code that this machine asked for.
fn row_of_this_client() -> String {
    format!("CLIENT#{}", alloy::hex::encode(Sha256::digest("127.0.0.1")))
}

fn row_of(email: &str) -> String {
    format!("CODE#{}", email.parse::<Email>().expect("an address").fingerprint())
}
