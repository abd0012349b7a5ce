//! `/oauth/passkey` and `/artists/passkeys`

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, token_part};

const CHALLENGE: &str = "/artists/passkeys/challenge";

async fn add(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.post("/artists/passkeys").bearer_auth(&artist.token).json(body)).await
}

async fn send(stack: &Stack, begun: &Value, credential: &Value) -> Answer {
    let body = json!({"ceremony": begun["ceremony"], "credential": credential});
    Answer::of(stack.post("/oauth/passkey").json(&body)).await
}

/// Whether the artist's token may do what takes a recent sign-in.
async fn is_fresh(stack: &Stack, artist: &SignedIn) -> bool {
    let address = format!("{:#x}", PrivateKeySigner::random().address());
    let answer = stack.add_payout_address(artist, address.parse().expect("an address")).await;
    assert!([200, 401].contains(&answer.status), "{answer:?}");
    answer.status == 200
}

#[tokio::test]
async fn passkey_signs_in_and_is_needed_from_then_on() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    assert!(is_fresh(&stack, &artist).await);
    let mut passkey = stack.added_passkey(&artist.token).await;
    let [one] = stack.passkeys(&artist).await.try_into().expect("one passkey");
    assert_eq!(
        (&one["name"], &one["last_used_at"], &one["removed_at"]),
        (&json!("my phone"), &json!(null), &json!(null))
    );
    assert!(!is_fresh(&stack, &artist).await, "a sign-in without the passkey does what takes one");
    let again = stack.sign_in(&artist.email).await;
    assert!(!is_fresh(&stack, &again).await, "whoever reads the mails does what takes the passkey");
    let adding = Answer::of(stack.post(CHALLENGE).bearer_auth(&again.token)).await;
    adding.expect_error(401);

    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    assert_eq!(by_passkey.wallet, artist.wallet);
    assert_eq!(token_part(&by_passkey.token, 1)["amr"], json!(["webauthn"]));
    assert!(is_fresh(&stack, &by_passkey).await);
    assert!(stack.passkeys(&by_passkey).await[0]["last_used_at"].is_string());
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("A passkey was added")), "{mails:?}");
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&by_passkey.token)).await.expect_success();
    assert_eq!(activity.body["activity"][1]["kind"], "signed_in", "{activity:?}");
}

#[tokio::test]
async fn replayed_foreign_and_cloned_answers_are_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist.token).await;
    stack.sign_in_with_passkey(&mut passkey).await;
    let mut clone = passkey.clone();

    let begun = stack.passkey_challenge().await;
    let credential = passkey.sign(&begun["publicKey"]).expect("an answer");
    let (first, second) = futures::join!(send(&stack, &begun, &credential), send(&stack, &begun, &credential));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{first:?} {second:?}");

    // An answer to another challenge, one for another site, one with another key, and one for an unknown passkey.
    let begun = stack.passkey_challenge().await;
    send(&stack, &begun, &credential).await.expect_error(401);
    let begun = stack.passkey_challenge().await;
    let mut phished = passkey.clone();
    phished.origin = "https://moments-sign-in.example".to_owned();
    send(&stack, &begun, &phished.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    let other = stack.new_artist().await;
    let mut others = stack.added_passkey(&other.token).await;
    let begun = stack.passkey_challenge().await;
    let mut mixed = others.sign(&begun["publicKey"]).expect("an answer");
    mixed["response"]["userHandle"] =
        passkey.clone().sign(&begun["publicKey"]).expect("an answer")["response"]["userHandle"].clone();
    send(&stack, &begun, &mixed).await.expect_error(401);

    // A clone's counter stands still while the original's went on.
    let begun = stack.passkey_challenge().await;
    clone.counter = 0;
    send(&stack, &begun, &clone.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    stack.sign_in_with_passkey(&mut passkey).await;

    // A challenge that is too old.
    let begun = stack.passkey_challenge().await;
    let row = format!("CEREMONY#{}", begun["ceremony"].as_str().expect("an id"));
    stack.set("SecretTable", &row, "CEREMONY", "expires_at", AttributeValue::N("1".to_owned())).await;
    send(&stack, &begun, &passkey.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
}

#[tokio::test]
async fn what_was_begun_by_another_or_for_another_end_adds_nothing() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let (_, body) = stack.made_passkey(&artist.token).await;
    let refused = add(&stack, &other, &body).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["ceremony"]);
    add(&stack, &artist, &body).await.expect_success();
    add(&stack, &artist, &body).await.expect_error(401);
    assert_eq!(stack.passkeys(&artist).await.len(), 1);
    assert!(stack.passkeys(&other).await.is_empty());

    let begun = stack.passkey_challenge().await;
    let (_, mut body) = stack.made_passkey(&other.token).await;
    body["ceremony"] = begun["ceremony"].clone();
    assert_eq!(add(&stack, &other, &body).await.expect_error(400).failing_fields(), ["ceremony"]);
    body["credential"] = json!({"id": "x"});
    assert_eq!(add(&stack, &other, &body).await.expect_error(400).failing_fields(), ["credential"]);
}

#[tokio::test]
async fn removal_without_a_passkey_waits_a_week_and_the_passkey_takes_it_back() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist.token).await;
    let id = stack.passkeys(&artist).await[0]["id"].clone();
    let by_mail = stack.sign_in(&artist.email).await;
    let left = stack.remove_passkey(&by_mail, &id).await.expect_success();
    assert!(left.body["passkeys"][0]["removed_at"].is_string(), "{left:?}");
    assert!(!is_fresh(&stack, &by_mail).await, "the passkey counts until it is gone");
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("A passkey is removed")), "{mails:?}");
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    assert_eq!(stack.passkeys(&by_passkey).await[0]["removed_at"], json!(null));

    // The week is over.
    stack.remove_passkey(&by_mail, &id).await.expect_success();
    let artist_id = stack.artist_id(&artist);
    let past = || AttributeValue::N("1".to_owned());
    let row = format!("PASSKEYS#{artist_id}");
    stack.set("SecretTable", &row, id.as_str().expect("an id"), "expires_at", past()).await;
    stack.set("SecretTable", &format!("SESSIONS#{artist_id}"), "PASSKEY", "expires_at", past()).await;
    assert!(is_fresh(&stack, &by_mail).await);
    assert!(stack.passkeys(&by_mail).await.is_empty());
    let begun = stack.passkey_challenge().await;
    send(&stack, &begun, &passkey.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
}

#[tokio::test]
async fn removal_with_a_passkey_is_at_once() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let mut passkey = stack.added_passkey(&artist.token).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    let id = stack.passkeys(&by_passkey).await[0]["id"].clone();
    stack.remove_passkey(&other, &id).await.expect_error(404);
    let left = stack.remove_passkey(&by_passkey, &id).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]));
    assert!(is_fresh(&stack, &artist).await, "nothing asks for a passkey that is gone");
    let begun = stack.passkey_challenge().await;
    send(&stack, &begun, &passkey.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    stack.remove_passkey(&by_passkey, &id).await.expect_error(404);
}

#[tokio::test]
async fn an_artist_has_at_most_ten_passkeys() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist.token).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    for _ in 1..10 {
        stack.added_passkey(&by_passkey.token).await;
    }
    Answer::of(stack.post(CHALLENGE).bearer_auth(&by_passkey.token)).await.expect_error(409);
}
