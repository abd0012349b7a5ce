//! `DELETE /artists/devices`

use std::collections::BTreeSet;

use serde_json::json;
use shared::{
    clock,
    model::{DeviceToken, Email},
    store::secret::{Devices, SecretTable},
};
use tests::{Answer, Stack, unused_email};

#[tokio::test]
async fn devices_are_listed_with_their_activity_and_forgotten_one_by_one() {
    let stack = Stack::connect();
    let email = unused_email();
    let (first, second) = (stack.remember_device(&email).await, stack.remember_device(&email).await);
    let ids = [&first, &second].map(|token| token.parse::<DeviceToken>().expect("a token").id().to_string());
    let artist = stack.sign_in(&email).await;
    let listed = async || {
        let answer = Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success();
        assert!(![&first, &second].iter().any(|token| answer.body.to_string().contains(token.as_str())), "{answer:?}");
        let devices = answer.body["devices"].as_array().expect("devices").clone();
        devices.into_iter().map(|device| device["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let mut found = listed().await;
    found.sort_unstable();
    let mut expected = ids.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);

    let forget = async |token: &str, id: &str| {
        Answer::of(stack.delete(&format!("/artists/devices?deviceId={id}")).bearer_auth(token)).await
    };
    let other = stack.new_artist().await;
    forget(&other.token, &ids[0]).await.expect_error(404);
    let answer = forget(&artist.token, &ids[0]).await.expect_success();
    assert_eq!(answer.body, json!({"success": true}));
    forget(&artist.token, &ids[0]).await.expect_error(404);
    assert_eq!(listed().await, [ids[1].clone()]);
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success();
    let told = activity.body["activity"].as_array().expect("a list");
    let forgotten: Vec<_> = told.iter().filter(|one| one["kind"] == "device_forgotten").collect();
    assert_eq!(forgotten.iter().map(|one| &one["subject"]).collect::<Vec<_>>(), [&ids[0]]);
    let wrong = forget(&artist.token, "laptop").await.expect_error(400);
    assert_eq!(wrong.failing_fields(), ["deviceId"]);
}

#[tokio::test]
async fn twenty_first_device_takes_the_place_of_the_one_unused_longest() {
    let stack = Stack::connect();
    let email = unused_email();
    let address = email.parse::<Email>().expect("an address");
    let devices =
        Devices::new(SecretTable::new(&stack.endpoints().sdk_config(&stack.map.dynamodb).await, "SecretTable"));
    let now = clock::now().expect("a time").as_secs();
    let ids: Vec<_> = (0..20).map(|_| DeviceToken::random().expect("a token").id()).collect();
    for (seen, id) in ids.iter().enumerate() {
        let seen_at = now - 1000 + seen as u64;
        devices.remember(&address, id, "127.0.0.0".to_owned(), "a laptop".to_owned(), seen_at).await.expect("a row");
    }
    let newest = stack.remember_device(&email).await.parse::<DeviceToken>().expect("a token").id();
    let known = devices.list(&address, now).await.expect("devices");
    let known: BTreeSet<_> = known.into_iter().map(|device| device.id.to_string()).collect();
    let expected: BTreeSet<_> = ids[1..].iter().chain([&newest]).map(ToString::to_string).collect();
    assert_eq!(known, expected);
}

#[tokio::test]
async fn device_is_known_for_a_year_after_its_last_sign_in() {
    const MONTH: u64 = 30 * 24 * 60 * 60;
    let stack = Stack::connect();
    let address = unused_email().parse::<Email>().expect("an address");
    let devices =
        Devices::new(SecretTable::new(&stack.endpoints().sdk_config(&stack.map.dynamodb).await, "SecretTable"));
    let (now, id) = (clock::now().expect("a time").as_secs(), DeviceToken::random().expect("a token").id());
    devices.remember(&address, &id, "127.0.0.0".to_owned(), "a laptop".to_owned(), now).await.expect("a row");
    devices.note_use(&address, &id, "127.0.0.0", now + 11 * MONTH).await.expect("a row");
    assert!(devices.is_known(&id, now + 14 * MONTH).await.expect("an answer"));
    assert!(devices.forget(&address, &id).await.expect("an answer"));
    // What was forgotten doesn't come back.
    devices.note_use(&address, &id, "127.0.0.0", now).await.expect("no row");
    assert!(!devices.is_known(&id, now).await.expect("an answer"));
}

#[tokio::test]
async fn known_device_gets_no_second_token_and_nobody_gets_one_unasked() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let code = {
        let seen = stack.mails_to(&email).await.len();
        let asked = json!({"email": email, "deviceToken": device});
        stack.post_json("/oauth/code", &asked).await.expect_success();
        local::mail::newest_code(&stack.map.mail, &email, seen).await.expect("a code")
    };
    let known = json!({"email": email, "code": code, "deviceToken": device, "remember": true});
    let answer = stack.post_json("/oauth/login", &known).await.expect_success();
    assert!(answer.body.get("deviceToken").is_none(), "{answer:?}");
    let email = unused_email();
    let code = stack.code_for(&email).await;
    let answer = stack.log_in(&email, &code).await.expect_success();
    let fields: Vec<_> = answer.body.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, ["social_wallet", "token"], "the contract's answer");
}
