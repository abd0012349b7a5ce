//! `POST /artists/email`: another mail address, after seven days in which the present one can stop it.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, unused_email};

/// Codes for a new address: its own, and the present mailbox's if it got one.
async fn codes(stack: &Stack, artist: &SignedIn, email: &str) -> (String, Option<String>) {
    let (new, old) = (stack.mails_to(email).await.len(), stack.mails_to(&artist.email).await.len());
    let request = stack.post("/artists/email/challenge").bearer_auth(&artist.token).json(&json!({"email": email}));
    let answer = Answer::of(request).await.expect_success();
    let code = local::mail::newest_code(&stack.map.mail, email, new).await.expect("a code");
    let current = match answer.body["needsCurrentCode"] == true {
        true => Some(local::mail::newest_code(&stack.map.mail, &artist.email, old).await.expect("a code")),
        false => None,
    };
    (code, current)
}

async fn change(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.post("/artists/email").bearer_auth(&artist.token).json(body)).await
}

async fn keep(stack: &Stack, token: &str) -> Answer {
    Answer::of(stack.delete("/artists/email").bearer_auth(token)).await
}

async fn activity(stack: &Stack, artist: &SignedIn) -> Value {
    Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success().body
}

/// Has the seven days of a change be over.
async fn wait_a_week(stack: &Stack, artist: &SignedIn, new: &str) {
    let table = &stack.map.names["ArtistTable"];
    let past = || AttributeValue::N("1700000000".to_owned());
    stack.set(table, &format!("EMAIL#{new}"), "ARTIST", "since", past()).await;
    stack.set(table, &format!("EMAIL#{}", artist.email), "ARTIST", "expires_at", past()).await;
    let contact = format!("CONTACT#{}", stack.artist_id(artist));
    let mut next = stack.row(table, &contact, "EMAIL").await.expect("a row")["next"].clone();
    if let AttributeValue::M(next) = &mut next {
        next.insert("from".to_owned(), past());
    }
    stack.set(table, &contact, "EMAIL", "next", next).await;
}

#[tokio::test]
async fn address_changes_after_a_week_and_the_old_one_is_free() {
    let stack = Stack::connect();
    let (artist, new) = (stack.new_artist().await, unused_email());
    let (code, current) = codes(&stack, &artist, &new).await;
    let body = json!({"email": new, "code": code, "currentCode": current});
    let answer = change(&stack, &artist, &body).await.expect_success();
    let shown = activity(&stack, &artist).await;
    assert_eq!(shown["email"], artist.email.as_str());
    assert_eq!(shown["nextEmail"], json!({"email": new, "at": answer.body["changesAt"]}));
    // Both are told.
    for mailbox in [&artist.email, &new] {
        let told =
            stack.mails_to(mailbox).await.iter().any(|mail| mail.body_text.contains("in 7 days, unless you stop it"));
        assert!(told, "{mailbox}");
    }
    // Until then the new one signs in to nothing.
    let early = stack.code_for(&new).await;
    let early = stack.log_in(&new, &early).await.expect_error(409);
    assert!(early.body.to_string().contains("signs in to an account from"), "{early:?}");

    wait_a_week(&stack, &artist, &new).await;
    assert_eq!(stack.sign_in(&new).await.wallet, artist.wallet);
    let shown = activity(&stack, &artist).await;
    assert_eq!((&shown["email"], &shown["nextEmail"]), (&json!(new), &Value::Null));
    let stranger = stack.sign_in(&artist.email).await;
    assert_ne!(stranger.wallet, artist.wallet, "the old address is anybody's who has the mailbox");
    keep(&stack, &artist.token).await.expect_error(404);
}

#[tokio::test]
async fn old_mailbox_stops_a_thiefs_change() {
    let stack = Stack::connect();
    let (artist, thiefs) = (stack.new_artist().await, unused_email());
    let (code, current) = codes(&stack, &artist, &thiefs).await;
    // The token alone, a code alone, or the code of the wrong mailbox are not enough.
    for (body, field) in [
        (json!({"email": thiefs, "code": code}), "currentCode"),
        (json!({"email": thiefs, "code": code, "currentCode": code}), "currentCode"),
        (json!({"email": thiefs, "code": current, "currentCode": current}), "code"),
        (json!({"email": unused_email(), "code": code, "currentCode": current}), "code"),
    ] {
        let answer = change(&stack, &artist, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [field], "{body}");
    }
    change(&stack, &artist, &json!({"email": thiefs, "code": code, "currentCode": current})).await.expect_success();
    let again = json!({"email": thiefs, "code": code, "currentCode": current});
    change(&stack, &artist, &again).await.expect_error(400);

    let owner = stack.sign_in(&artist.email).await;
    assert_eq!(owner.wallet, artist.wallet, "the present address signs in");
    keep(&stack, &stack.new_artist().await.token).await.expect_error(404);
    keep(&stack, &owner.token).await.expect_success();
    assert_eq!(activity(&stack, &owner).await["nextEmail"], Value::Null);
    let row = stack.row(&stack.map.names["ArtistTable"], &format!("EMAIL#{}", artist.email), "ARTIST").await;
    assert!(row.is_some_and(|row| !row.contains_key("expires_at")), "it stays");
    assert_ne!(stack.sign_in(&thiefs).await.wallet, artist.wallet, "an account of its own");
}

#[tokio::test]
async fn taken_and_own_addresses_and_second_changes_are_refused() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let own = stack.post("/artists/email/challenge").bearer_auth(&artist.token).json(&json!({"email": artist.email}));
    assert_eq!(Answer::of(own).await.expect_error(400).failing_fields(), ["email"]);
    // Only who has the other mailbox learns that it is taken.
    let (code, current) = codes(&stack, &artist, &other.email).await;
    let body = json!({"email": other.email, "code": code, "currentCode": current});
    change(&stack, &artist, &body).await.expect_error(409);
    let first = unused_email();
    let (code, _) = codes(&stack, &artist, &first).await;
    let current = local::mail::newest_code(&stack.map.mail, &artist.email, 0).await.expect("a code");
    change(&stack, &artist, &json!({"email": first, "code": code, "currentCode": current})).await.expect_success();
    // Whoever signed in without a mail address gets one in the same way.
    let table = &stack.map.names["ArtistTable"];
    let row = stack.row(table, &format!("EMAIL#{first}"), "ARTIST").await.expect("a row");
    assert_eq!(row["artist_id"], AttributeValue::S(stack.artist_id(&artist)));
}

#[tokio::test]
async fn a_passkey_stands_for_a_lost_mailbox() {
    let stack = Stack::connect();
    let (artist, new) = (stack.new_artist().await, unused_email());
    let mut passkey = stack.added_passkey(&artist.token).await;
    let by_mail = stack.sign_in(&artist.email).await;
    let request = stack.post("/artists/email/challenge").bearer_auth(&by_mail.token).json(&json!({"email": new}));
    Answer::of(request).await.expect_error(401);
    let answer = stack.passkey_answer(&mut passkey).await;
    let answer = stack.post_json("/oauth/passkey", &answer).await.expect_success();
    let token = answer.body["token"].as_str().expect("a token").to_owned();
    let artist = SignedIn { token, ..artist };
    let (code, current) = codes(&stack, &artist, &new).await;
    assert_eq!(current, None);
    change(&stack, &artist, &json!({"email": new, "code": code})).await.expect_success();
}
