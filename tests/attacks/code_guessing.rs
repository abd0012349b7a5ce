//! Strangers guess a chosen person's codes, use their tries up, ask for codes in their name, and flood their inbox.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::model::Email;
use tests::{Sandbox, Stack, unused_email};

const NONCE: &str = "8c1f5a0e7d3b4c2f9a6e1d0b";

fn another(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().expect("digits") + 1) % 1_000_000)
}

fn mailbox(email: &str) -> String {
    email.parse::<Email>().expect("an address").mailbox()
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
        stack.log_in(&email, &another(&code)).await.expect_error(401);
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
async fn strangers_lock_nobody_out() {
    let stack = Stack::connect();
    let (log_in, send_code) =
        (Sandbox::with_variables(&stack, "log-in", &[]).await, Sandbox::with_variables(&stack, "send-code", &[]).await);
    let email = unused_email();
    let code = stack.code_for(&email).await;
    // Tries from elsewhere, and codes that are asked for elsewhere, are others'.
    for _ in 0..6 {
        let (status, _) = log_in.post("192.0.2.50", &json!({"email": email, "code": another(&code)})).await;
        assert_eq!(status, 401);
    }
    let (status, _) = send_code.post("192.0.2.51", &json!({"email": email})).await;
    assert_eq!(status, 200);
    stack.log_in(&email, &code).await.expect_success();

    // From where the owner signed in before, strangers' requests don't count.
    let mut refused = 0;
    for client in 0..10 {
        for _ in 0..3 {
            let (status, _) = send_code.post(&format!("198.51.100.{client}"), &json!({"email": email})).await;
            refused += u32::from(status == 429);
        }
    }
    assert!(refused > 0, "strangers sent as many mails as they liked");
    assert!(stack.mails_to(&email).await.len() <= 22, "the inbox was flooded");
    let code = stack.code_for(&email).await;
    stack.log_in(&email, &code).await.expect_success();
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
async fn strangers_pause_after_a_hundred_wrong_tries_and_the_owner_is_told() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let log_in = Sandbox::with_variables(&stack, "log-in", &[]).await;
    let partition = format!("GUESSES#{}", mailbox(&artist.email));
    let guess = |code: &str| json!({"email": artist.email, "code": code});
    let code = stack.code_for(&artist.email).await;
    stack.log_in(&artist.email, &another(&code)).await.expect_error(401);
    stack.set("SecretTable", &partition, "STREAK", "wrong", AttributeValue::N("99".to_owned())).await;
    let (status, _) = log_in.post("203.0.113.9", &guess(&another(&code))).await;
    assert_eq!(status, 401);
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("100 failed sign-in attempts")), "{mails:?}");
    // A stranger's right guess is refused, the owner's isn't.
    let (status, _): (u16, Value) = log_in.post("203.0.113.9", &guess(&code)).await;
    assert_eq!(status, 401);
    stack.log_in(&artist.email, &code).await.expect_success();
    assert!(stack.row("SecretTable", &partition, "STREAK").await.is_none(), "the streak goes on");
}

#[tokio::test]
async fn guesses_from_many_networks_end_at_a_hundred_and_honest_people_sign_in_beside_them() {
    let stack = Stack::connect();
    let (chosen, beside) = (stack.new_artist().await, stack.new_artist().await);
    let log_in = &Sandbox::crowd(&stack, "log-in", &[], &stack.map.dynamodb, 8).await;
    let code = stack.code_for(&chosen.email).await;
    let (wrong, email) = (another(&code), &chosen.email);
    // No network tries more than four times, so none has used a code's tries up.
    let guesses = (0..30).map(|network| {
        let guess = json!({"email": email, "code": wrong});
        async move {
            for _ in 0..4 {
                let (status, _) = log_in.post(&format!("198.18.{network}.1"), &guess).await;
                assert_eq!(status, 401);
            }
        }
    });
    let honest = async {
        for _ in 0..2 {
            let code = stack.code_for(&beside.email).await;
            stack.log_in(&beside.email, &code).await.expect_success();
        }
    };
    futures::future::join(futures::future::join_all(guesses), honest).await;
    let mails = stack.mails_to(email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("100 failed sign-in attempts")), "{mails:?}");
    // From now on strangers' guesses aren't even compared, right ones neither; the owner's are.
    for network in 0..3 {
        let (status, _) = log_in.post(&format!("198.19.{network}.1"), &json!({"email": email, "code": code})).await;
        assert_eq!(status, 401);
    }
    stack.log_in(email, &code).await.expect_success();
}

#[tokio::test]
async fn one_client_tries_no_more_than_its_limit() {
    let stack = Stack::connect();
    let log_in = Sandbox::with_variables(&stack, "log-in", &[("SIGN_INS_PER_CLIENT_HOURLY", "5")]).await;
    let network: u16 = uuid::Uuid::new_v4().as_u128() as u16;
    let client = format!("2001:db8:{network:x}:1::1");
    for _ in 0..5 {
        let (status, _) = log_in.post(&client, &json!({"email": unused_email(), "code": "123456"})).await;
        assert_eq!(status, 401);
    }
    let (status, _) = log_in.post(&client, &json!({"email": unused_email(), "code": "123456"})).await;
    assert_eq!(status, 429);
}
