//! Strangers keep a chosen person from signing in: with wrong codes, with requests for mails, from one network and from many.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::model::Email;
use tests::{Sandbox, Stack, another_code, unused_email};

const NONCE: &str = "a-nonce-of-the-owner-and-nobody-else";

async fn newest_code(stack: &Stack, email: &str) -> String {
    local::mail::newest_code(&stack.map.mail, email, 0).await.expect("a code")
}

#[tokio::test]
async fn strangers_wrong_codes_before_the_first_sign_in_keep_nobody_out() {
    let stack = Stack::connect();
    let log_in = Sandbox::crowd(&stack, "log-in", &[], &stack.map.dynamodb, 4).await;
    // From one network and from 104 of them, against who has a nonce and who has none.
    for (networks, nonce) in [(1, json!(null)), (1, json!(NONCE)), (104, json!(null)), (104, json!(NONCE))] {
        let email = unused_email();
        let guess = json!({"email": email, "code": "000000"});
        let subnet = networks + u8::from(nonce.is_null());
        let guesses = (0..104_u8).map(|attempt| {
            let (log_in, guess, network) = (&log_in, &guess, attempt % networks);
            async move { assert_eq!(log_in.post(&format!("198.{subnet}.{network}.1"), guess).await.0, 401) }
        });
        futures::future::join_all(guesses).await;
        let mut asked = json!({"email": email});
        if !nonce.is_null() {
            asked["nonce"] = nonce;
        }
        stack.post_json("/oauth/code", &asked).await.expect_success();
        asked["code"] = json!(newest_code(&stack, &email).await);
        stack.post_json("/oauth/login", &asked).await.expect_success();
    }
}

#[tokio::test]
async fn link_signs_in_where_codes_no_longer_work_and_makes_the_device_known() {
    let stack = Stack::connect();
    let email = unused_email();
    let guesses = format!("GUESSES#{}", email.parse::<Email>().expect("an address").mailbox());
    for (field, value) in [("wrong", "100"), ("expires_at", "4000000000")] {
        stack.set("SecretTable", &guesses, "STREAK", field, AttributeValue::N(value.to_owned())).await;
    }
    for nonce in [None, Some("8c1f5a0e7d3b4c2f9a6e1d0b")] {
        stack.post_json("/oauth/code", &json!({"email": email, "nonce": nonce})).await.expect_success();
        let mails = stack.mails_to(&email).await;
        let mail = mails.last().expect("a mail");
        assert!(local::mail::code_in(mail).is_none() && local::mail::link_in(mail).is_some(), "{mail:?}");
    }
    let link = stack.newest_link(&email).await;
    let signed_in = stack.use_link(&link).await.expect_success();
    assert_eq!(signed_in.body["email"], json!(email));
    let device = signed_in.body["deviceToken"].as_str().expect("a device token");
    stack.use_link(&link).await.expect_error(401);

    // Strangers go on: the device isn't touched.
    for (field, value) in [("wrong", "100"), ("expires_at", "4000000000")] {
        stack.set("SecretTable", &guesses, "STREAK", field, AttributeValue::N(value.to_owned())).await;
    }
    stack.post_json("/oauth/code", &json!({"email": email, "deviceToken": device})).await.expect_success();
    let code = newest_code(&stack, &email).await;
    let known = json!({"email": email, "code": code, "deviceToken": device});
    stack.post_json("/oauth/login", &known).await.expect_success();
}

#[tokio::test]
async fn strangers_requests_leave_a_living_link_in_the_mailbox_and_known_devices_alone() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let send_code = Sandbox::crowd(&stack, "send-code", &[], &stack.map.dynamodb, 4).await;
    let mut refused = 0;
    for client in 0..30 {
        for _ in 0..3 {
            let (status, _) = send_code.post(&format!("198.51.{client}.1"), &json!({"email": email})).await;
            refused += u32::from(status == 429);
        }
    }
    assert!(refused > 0, "strangers sent as many mails as they liked");
    assert!(stack.mails_to(&email).await.len() <= 22, "the inbox was flooded");
    // The owner elsewhere is told to wait less long than the newest link lives, and that link works.
    let answer = stack.post_json("/oauth/code", &json!({"email": email})).await.expect_error(429);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!(seconds <= 870, "told to wait {seconds} s");
    let link = stack.newest_link(&email).await;
    stack.use_link(&link).await.expect_success();
    stack.post_json("/oauth/code", &json!({"email": email, "deviceToken": device})).await.expect_success();
    let code = newest_code(&stack, &email).await;
    let known = json!({"email": email, "code": code, "deviceToken": device});
    stack.post_json("/oauth/login", &known).await.expect_success();
}

#[tokio::test]
async fn strangers_tries_in_the_same_network_do_not_burn_a_known_devices_code() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    stack.post_json("/oauth/code", &json!({"email": email, "deviceToken": device})).await.expect_success();
    let code = newest_code(&stack, &email).await;
    for _ in 0..6 {
        stack.log_in(&email, &another_code(&code)).await.expect_error(401);
    }
    stack.log_in(&email, &code).await.expect_error(401);
    let known = json!({"email": email, "code": code, "deviceToken": device});
    stack.post_json("/oauth/login", &known).await.expect_success();
}
