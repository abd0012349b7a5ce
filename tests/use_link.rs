//! `POST /oauth/link`

use aws_sdk_dynamodb::types::AttributeValue;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::json;
use shared::model::SignInLink;
use tests::{Stack, unused_email};

#[tokio::test]
async fn link_signs_in_to_the_same_account_as_a_code_and_both_of_a_mail_are_used_once() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let code = stack.code_for(&artist.email).await;
    let link = stack.newest_link(&artist.email).await;
    let answer = stack.use_link(&link).await.expect_success();
    assert_eq!((&answer.body["social_wallet"], &answer.body["email"]), (&json!(artist.wallet), &json!(artist.email)));
    let refusal = stack.use_link(&link).await.expect_error(401);
    assert!(refusal.header("www-authenticate").starts_with("Bearer"), "{refusal:?}");
    stack.log_in(&artist.email, &code).await.expect_error(401);

    let code = stack.code_for(&artist.email).await;
    let link = stack.newest_link(&artist.email).await;
    stack.log_in(&artist.email, &code).await.expect_success();
    stack.use_link(&link).await.expect_error(401);
}

#[tokio::test]
async fn used_twice_at_once_a_link_signs_in_once() {
    let stack = Stack::connect();
    let email = unused_email();
    stack.code_for(&email).await;
    let link = stack.newest_link(&email).await;
    let (first, second) = futures::join!(stack.use_link(&link), stack.use_link(&link));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{first:?} {second:?}");
}

#[tokio::test]
async fn expired_altered_and_malformed_links_are_refused() {
    let stack = Stack::connect();
    let email = unused_email();
    stack.code_for(&email).await;
    let link = stack.newest_link(&email).await;
    let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(&link).expect("base64");
    *bytes.last_mut().expect("a byte") ^= 1;
    stack.use_link(&BASE64_URL_SAFE_NO_PAD.encode(bytes)).await.expect_error(401);
    for text in ["", "x", &link[1..], &format!("{link}x")] {
        let answer = stack.use_link(text).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["link"], "{text}");
    }
    let parsed: SignInLink = link.parse().expect("a link");
    let (row, secret) = (format!("CODE#{}", parsed.fingerprint()), format!("LINK#{}", parsed.hash()));
    let stored = stack.row("SecretTable", &row, &secret).await.expect("the link's row");
    assert!(!format!("{stored:?}").contains(&link), "the link is stored in plain text");
    stack.set("SecretTable", &row, &secret, "expires_at", AttributeValue::N("1".to_owned())).await;
    stack.use_link(&link).await.expect_error(401);
}
