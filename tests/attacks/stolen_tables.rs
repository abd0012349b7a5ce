//! Somebody reads all tables, or has the token of a device: neither is a way in.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tests::{Answer, Stack, unused_email};
use uuid::Uuid;

/// Every text of a value, with those inside of it.
fn texts(value: &AttributeValue) -> Vec<&str> {
    match value {
        AttributeValue::S(text) => vec![text],
        AttributeValue::L(list) => list.iter().flat_map(texts).collect(),
        AttributeValue::M(map) => map.values().flat_map(texts).collect(),
        AttributeValue::Ss(list) => list.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn no_table_has_anything_that_signs_in() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    let artist = stack.sign_in(&email).await;
    let name = format!("read{}", &Uuid::new_v4().simple().to_string()[..10]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let key = stack.create_key(&artist, &json!({"name": "site"})).await.expect_success();
    let key = key.body["apiKey"].as_str().expect("a key").to_owned();
    let webhook = stack.post("/webhooks").bearer_auth(&artist.token).json(&json!({"url": "https://example.com/in"}));
    let webhook = Answer::of(webhook).await.expect_success().body;
    let secret = webhook["secret"].as_str().expect("a secret").to_owned();
    // A code that waits for its person, and the link of the same mail.
    let code = stack.code_for(&email).await;
    let mails = stack.mails_to(&email).await;
    let link = mails.last().and_then(local::mail::link_in).expect("a link").to_owned();

    let dynamodb = aws_sdk_dynamodb::Client::new(&stack.endpoints().sdk_config(&stack.map.dynamodb).await);
    let (mut read, mut found) = (0, BTreeSet::new());
    for table in ["ChainTable", "ArtistTable", "SecretTable"] {
        let scan = dynamodb.scan().table_name(&stack.map.names[table]).into_paginator().items().send();
        let rows = scan.try_collect().await.expect("all rows");
        read += rows.len();
        for row in &rows {
            for text in row.values().flat_map(texts) {
                for secret in [&artist.token, &key, &secret, &device, &link] {
                    assert!(!text.contains(secret.as_str()), "{table}: {row:?}");
                }
                assert_ne!(text, code, "{table}: {row:?}");
                found.extend([email.as_str(), &name, "127.0.0.1"].into_iter().filter(|known| text.contains(known)));
            }
        }
    }
    assert!(read > 10, "{read} rows");
    assert_eq!(found.len(), 3, "a mail address, a name and a network are in them: {found:?}");
    let table = &stack.map.names["SecretTable"];
    let mailbox = email.parse::<shared::model::Email>().expect("an address").fingerprint();
    assert!(stack.row(table, &format!("CODE#{mailbox}"), "CODE").await.is_some(), "the code is stored");
}

#[tokio::test]
async fn a_device_token_alone_signs_nobody_in() {
    let stack = Stack::connect();
    let email = unused_email();
    let device = stack.remember_device(&email).await;
    Answer::of(stack.get("/me").bearer_auth(&device)).await.expect_error(401);
    Answer::of(stack.get("/me").header("x-api-key", &device)).await.expect_error(401);
    let asked = json!({"email": email, "deviceToken": device});
    let answer = stack.post_json("/oauth/code", &asked).await.expect_success();
    assert_eq!(answer.body, json!({"success": true}), "the code is in the mail alone");
    for code in ["000000", "123456"] {
        let guess = json!({"email": email, "code": code, "deviceToken": device});
        stack.post_json("/oauth/login", &guess).await.expect_error(401);
    }
    // The owner notices the device, and ends it.
    let artist = stack.sign_in(&email).await;
    let listed = Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success();
    let id = listed.body["devices"][0]["id"].as_str().expect("an id").to_owned();
    let forget = stack.delete(&format!("/artists/devices?deviceId={id}")).bearer_auth(&artist.token);
    Answer::of(forget).await.expect_success();
}
