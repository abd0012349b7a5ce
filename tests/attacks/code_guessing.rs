//! Strangers guess a chosen person's codes, use their tries up, and ask for codes in their name.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::model::{DeviceToken, Email};
use tests::{HOUR, Sandbox, Stack, another_code, unused_email, unused_network, within_one_window};

const NONCE: &str = "8c1f5a0e7d3b4c2f9a6e1d0b";

fn guesses(email: &str) -> String {
    format!("GUESSES#{}", email.parse::<Email>().expect("an address").mailbox())
}

/// So many wrong codes were tried for an address.
async fn wrong_codes(stack: &Stack, email: &str, count: u32) {
    let later = AttributeValue::N("4000000000".to_owned());
    stack.set("SecretTable", &guesses(email), "STREAK", "expires_at", later).await;
    stack.set("SecretTable", &guesses(email), "STREAK", "wrong", AttributeValue::N(count.to_string())).await;
}

async fn newest_code(stack: &Stack, email: &str) -> String {
    local::mail::newest_code(&stack.map.mail, email, 0).await.expect("a code")
}

#[tokio::test]
async fn strangers_tries_do_not_burn_a_code_with_a_nonce() {
    let stack = Stack::connect();
    let email = unused_email();
    stack.post_json("/oauth/code", &json!({"email": email, "nonce": NONCE})).await.expect_success();
    let code = newest_code(&stack, &email).await;
    for _ in 0..6 {
        stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    }
    let with = |nonce: &str| json!({"email": email, "code": code, "nonce": nonce});
    stack.log_in(&email, &code).await.expect_error(401);
    stack.post_json("/oauth/login", &with("another-nonce-of-a-stranger")).await.expect_error(401);
    stack.post_json("/oauth/login", &with(NONCE)).await.expect_success();
    stack.post_json("/oauth/login", &with(NONCE)).await.expect_error(401);
    let wrong = stack.post_json("/oauth/code", &json!({"email": email, "nonce": "short"})).await.expect_error(400);
    assert_eq!(wrong.failing_fields(), ["nonce"]);
}

#[tokio::test]
async fn tags_are_one_mailbox() {
    let stack = Stack::connect();
    let email = unused_email();
    let tagged = |tag: u32| email.replace('@', &format!("+{tag}@"));
    for tag in 0..3 {
        stack.post_json("/oauth/code", &json!({"email": tagged(tag)})).await.expect_success();
    }
    stack.post_json("/oauth/code", &json!({"email": tagged(3)})).await.expect_error(429);
    stack.post_json("/oauth/code", &json!({"email": email})).await.expect_error(429);
}

#[tokio::test]
async fn after_a_hundred_wrong_codes_only_known_devices_use_codes_and_the_owner_is_told() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let code = stack.code_for(&email).await;
    wrong_codes(&stack, &email, 99).await;
    stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    let mails = stack.mails_to(&email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("100 failed sign-in attempts")), "{mails:?}");
    // A stranger's right guess isn't even compared.
    let refusal = stack.log_in(&email, &code).await.expect_error(401);
    assert!(refusal.body["message"].as_str().is_some_and(|message| message.contains("link")), "{refusal:?}");
    let known = json!({"email": email, "code": code, "deviceToken": device});
    stack.post_json("/oauth/login", &known).await.expect_success();
    assert!(stack.row("SecretTable", &guesses(&email), "STREAK").await.is_none(), "the streak goes on");
}

#[tokio::test]
async fn known_device_has_a_hundred_wrong_codes_of_its_own() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let asked = stack.post_json("/oauth/code", &json!({"email": email, "deviceToken": device})).await;
    asked.expect_success();
    let code = newest_code(&stack, &email).await;
    let with = |code: &str| json!({"email": email, "code": code, "deviceToken": device});
    stack.post_json("/oauth/login", &with(&another_code(&code))).await.expect_error(401);
    let row = format!("DEVICES#{}", email.parse::<Email>().expect("an address").fingerprint());
    let id = device.parse::<DeviceToken>().expect("a token").id().to_string();
    assert!(stack.row("SecretTable", &guesses(&email), "STREAK").await.is_none(), "it counts for strangers");
    stack.set("SecretTable", &row, &id, "wrong", AttributeValue::N("100".to_owned())).await;
    wrong_codes(&stack, &email, 100).await;
    stack.post_json("/oauth/login", &with(&code)).await.expect_error(401);
}

#[tokio::test]
async fn tries_without_a_code_count_nothing() {
    let stack = Stack::connect();
    let email = unused_email();
    for _ in 0..12 {
        stack.log_in(&email, "123456").await.expect_error(401);
    }
    assert!(stack.row("SecretTable", &guesses(&email), "STREAK").await.is_none(), "tries were counted");
    let code = stack.code_for(&email).await;
    for _ in 0..12 {
        stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    }
    let row = stack.row("SecretTable", &guesses(&email), "STREAK").await.expect("a streak");
    assert_eq!(row["wrong"], AttributeValue::N("5".to_owned()), "a code has five tries");
}

#[tokio::test]
async fn one_client_tries_no_more_than_its_limit() {
    let stack = Stack::connect();
    let log_in = Sandbox::with_variables(&stack, "log-in", &[("SIGN_INS_PER_CLIENT_HOURLY", "5")]).await;
    let statuses = within_one_window(HOUR, async || {
        let (client, mut statuses) = (format!("{}:1::1", unused_network()), Vec::new());
        for _ in 0..6 {
            statuses.push(log_in.post(&client, &json!({"email": unused_email(), "code": "123456"})).await.0);
        }
        statuses
    })
    .await;
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429]);
}
