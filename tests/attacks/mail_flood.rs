//! Somebody floods an inbox, uses up the service's mails, or lets the service mail their words.

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use serde_json::json;
use tests::{Answer, HOUR, Sandbox, SignedIn, Stack, unused_email, within_one_window};

/// How many mails with these words in their subjects the artist got.
async fn told(stack: &Stack, artist: &SignedIn, words: &str) -> usize {
    let mails = stack.mails_to(&artist.email).await;
    mails.iter().filter(|mail| mail.subject.contains(words)).count()
}

#[tokio::test]
async fn notices_end_with_one_that_says_there_is_more_and_lost_money_is_still_told() {
    let stack = Stack::connect();
    // A day ends with an hour.
    let (artist, notices) = within_one_window(HOUR, async || {
        let artist = stack.new_artist().await;
        for _ in 0..13 {
            let key = stack.create_key(&artist, &json!({"name": "k"})).await.expect_success();
            assert!(key.body["apiKey"].is_string());
            for key in stack.list_keys(&artist).await {
                stack.revoke_key(&artist, key["id"].as_str().expect("an id")).await.expect_success();
            }
        }
        let notices = (told(&stack, &artist, "API key").await, told(&stack, &artist, "More happened").await);
        (artist, notices)
    })
    .await;
    assert_eq!(notices, (10, 1));
    stack.create_key(&artist, &json!({"scopes": ["admin"]})).await.expect_success();
    assert_eq!(told(&stack, &artist, "may give away").await, 1, "the mail of the key that counts was buried");
    stack.add_payout_address(&artist, PrivateKeySigner::random().address()).await.expect_success();
    assert_eq!(told(&stack, &artist, "money can be withdrawn").await, 1, "the mail that counts was buried");
    stack.new_passkey(&artist).await;
    let passkey = stack.only_passkey(&artist).await;
    stack.remove_passkey_by_mail(&artist, &passkey).await.expect_success();
    assert_eq!(told(&stack, &artist, "passkey is removed").await, 1, "the mail of the lost way in was buried");
}

#[tokio::test]
async fn repeated_change_of_an_account_buries_no_other() {
    let stack = Stack::connect();
    let (artist, notices) = within_one_window(HOUR, async || {
        let artist = stack.new_artist().await;
        for number in 1..=14 {
            let address = Address::repeat_byte(number);
            stack.add_payout_address(&artist, address).await.expect_success();
            let path = format!("/artists/payout-addresses?address={address:#x}");
            Answer::of(stack.delete(&path).bearer_auth(&artist.token)).await.expect_success();
        }
        let added = told(&stack, &artist, "money can be withdrawn").await;
        let notices = (added, told(&stack, &artist, "More happened").await);
        (artist, notices)
    })
    .await;
    // The first of its kind, and those of the hour.
    assert_eq!(notices, (11, 1));
    stack.create_key(&artist, &json!({"scopes": ["admin"]})).await.expect_success();
    stack.connect_wallet(&artist, &PrivateKeySigner::random()).await.expect_success();
    stack.new_passkey(&artist).await;
    for words in ["may give away", "wallet was connected", "passkey was added"] {
        assert_eq!(told(&stack, &artist, words).await, 1, "{words}");
    }
}

#[tokio::test]
async fn first_notice_of_its_kind_that_is_not_mailed_comes_with_the_next() {
    let stack = Stack::connect();
    let without_mails = Sandbox::with_variables(&stack, "create-api-key", &[("MAILS_DAILY", "0")]).await;
    let told_twice = within_one_window(HOUR, async || {
        let artist = stack.new_artist().await;
        // The first of its kind, and those of the hour.
        for number in 1..=12 {
            stack.add_payout_address(&artist, Address::repeat_byte(number)).await.expect_success();
        }
        let (powerful, bearer) = (json!({"scopes": ["admin"]}), format!("Bearer {}", artist.token));
        let made = without_mails.post_with("192.0.2.1", &powerful, &[("authorization", &bearer)]).await;
        let before = told(&stack, &artist, "may give away").await;
        stack.create_key(&artist, &powerful).await.expect_success();
        (made.0, before, told(&stack, &artist, "may give away").await)
    })
    .await;
    assert_eq!(told_twice, (200, 0, 1));
}

#[tokio::test]
async fn notices_have_no_words_of_strangers() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let words = "Not you? Cancel at https://moments-security.example/stop";
    stack.create_key(&artist, &json!({"name": words})).await.expect_success();
    let webhook = json!({"url": "https://hooks.example.com/Not-you-Cancel-at-moments-security.example?token=s3cret"});
    Answer::of(stack.post("/webhooks").bearer_auth(&artist.token).json(&webhook)).await.expect_success();
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.len() >= 3, "{mails:?}");
    for mail in &mails {
        assert!(!format!("{mail:?}").contains("moments-security"), "{mail:?}");
        assert!(!mail.body_text.contains("s3cret"), "{mail:?}");
    }
    assert!(mails.iter().any(|mail| mail.body_text.contains("hooks.example.com")), "{mails:?}");
}

#[tokio::test]
async fn dots_and_other_names_of_a_provider_are_one_mailbox() {
    let stack = Stack::connect();
    let name = uuid::Uuid::new_v4().simple().to_string();
    let ask = async |email: String| stack.post_json("/oauth/code", &json!({"email": email})).await.status;
    for at in 1..=3 {
        let (front, back) = name.split_at(at);
        assert_eq!(ask(format!("{front}.{back}@gmail.com")).await, 200);
    }
    assert_eq!(ask(format!("{name}@googlemail.com")).await, 429);
}

#[tokio::test]
async fn used_up_budget_mails_known_mailboxes_alone_and_does_not_tell_which_they_are() {
    let stack = Stack::connect();
    let database = tests::empty_tables(&stack).await;
    let (known, unknown) = (unused_email(), unused_email());
    let at = async |hourly: &str| {
        Sandbox::with(&stack, "send-code", &[("CODES_TOTAL_HOURLY", hourly)], &database.endpoint).await
    };
    let log_in = Sandbox::with_database(&stack, "log-in", &database.endpoint).await;
    let open = at("3000").await;
    assert_eq!(open.post("192.0.2.1", &json!({"email": known})).await.0, 200);
    let code = local::mail::newest_code(&stack.map.mail, &known, 0).await.expect("a code");
    let (status, answer) = log_in.post("192.0.2.1", &json!({"email": known, "code": code, "remember": true})).await;
    assert_eq!(status, 200);
    let used_up = at("0").await;
    let (of_known, of_unknown) = (
        used_up.post("192.0.2.2", &json!({"email": known})).await,
        used_up.post("192.0.2.2", &json!({"email": unknown})).await,
    );
    assert_eq!(of_known, of_unknown, "the answer tells which mailbox has an account");
    assert_eq!(of_known.0, 429);
    assert_eq!((stack.mails_to(&known).await.len(), stack.mails_to(&unknown).await.len()), (2, 0));
    let device = json!({"email": known, "deviceToken": answer["deviceToken"]});
    assert_eq!(used_up.post("192.0.2.2", &device).await.0, 200, "a known device");
}

#[tokio::test]
async fn address_whose_mails_come_back_gets_none() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let stop_mails = Sandbox::with_variables(&stack, "stop-mails", &[]).await;
    let mut event = stop_mails.event();
    event["detail"]["bounce"]["bouncedRecipients"][0]["emailAddress"] = json!(artist.email);
    stop_mails.invoke(&event).await;
    stack.post_json("/oauth/code", &json!({"email": artist.email})).await.expect_error(422);
    stack.create_key(&artist, &json!({})).await.expect_success();
    assert_eq!(stack.mails_to(&artist.email).await.len(), 1, "the mail of the sign-in before");
}

#[tokio::test]
async fn proofs_leave_the_sign_in_mail_alone() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let ask = async |subject: &str| stack.ask_proof(&artist, &json!({"act": "changeEmail", "subject": subject})).await;
    for _ in 0..5 {
        ask(&unused_email()).await.expect_success();
    }
    let refused = ask(&unused_email()).await.expect_error(429);
    assert!(!refused.header("retry-after").is_empty(), "{refused:?}");
    assert_eq!(stack.mails_to(&artist.email).await.len(), 6, "that of the sign-in and five");
    // Two more of the three in ten minutes.
    for _ in 0..2 {
        assert_eq!(stack.sign_in(&artist.email).await.wallet, artist.wallet);
    }
}

#[tokio::test]
async fn one_mailbox_gets_three_proof_codes_of_an_artist() {
    let stack = Stack::connect();
    let (artist, target) = (stack.new_artist().await, unused_email());
    let ask = async || stack.ask_proof(&artist, &json!({"act": "newEmail", "subject": target})).await;
    for _ in 0..3 {
        ask().await.expect_success();
    }
    ask().await.expect_error(429);
    assert_eq!(stack.mails_to(&target).await.len(), 3);
}

#[tokio::test]
async fn taken_address_is_mailed_nothing() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let seen = stack.mails_to(&other.email).await.len();
    for taken in [&other.email, &artist.email] {
        let asked = json!({"act": "newEmail", "subject": taken});
        stack.ask_proof(&artist, &asked).await.expect_error(409);
    }
    assert_eq!(stack.mails_to(&other.email).await.len(), seen);
}
