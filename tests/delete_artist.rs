//! `DELETE /artists/me`, and the worker that erases accounts.

use std::collections::BTreeSet;

use alloy::primitives::Address;
use aws_sdk_dynamodb::types::AttributeValue;
use local::patience;
use serde_json::{Value, json};
use shared::model::Email;
use tests::{Answer, SignedIn, Stack, eventually};

/// Kinds of rows that go by themselves: limits, batches of lanes, former rows of blocks that aren't final, and what waits
/// for a webhook's next try.
const STAY: [&str; 6] = ["RATE", "LANE", "BATCHES", "JOURNAL", "WEBHOOKS_FAILING", "WEBHOOKS_LATER"];

const TABLES: [&str; 3] = ["ChainTable", "ArtistTable", "SecretTable"];

async fn delete(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.delete("/artists/me").bearer_auth(&artist.token).json(body)).await
}

/// Makes the account's deletion due, or what has begun older, and runs the worker.
async fn run(stack: &Stack, artist: &str, field: &str) {
    let key = |value: &str| AttributeValue::S(value.to_owned());
    let call = stack.dynamodb().await.update_item().table_name(&stack.map.names["ArtistTable"]);
    let call = call.key("pk", key("DELETIONS")).key("sk", key(artist)).condition_expression("attribute_exists(pk)");
    let call = call.update_expression(format!("SET {field} = :long_ago"));
    // A run that the schedule began may have been faster.
    let _ = call.expression_attribute_values(":long_ago", AttributeValue::N("1700000000".to_owned())).send().await;
    stack.work("erase-artists").await;
}

async fn deletion(stack: &Stack, artist: &str) -> Option<std::collections::HashMap<String, AttributeValue>> {
    stack.row(&stack.map.names["ArtistTable"], "DELETIONS", artist).await
}

/// Keys of a table's rows that mention one of the words.
async fn mentions(stack: &Stack, table: &str, words: &[String]) -> BTreeSet<(String, String)> {
    let call = stack.dynamodb().await.scan().table_name(&stack.map.names[table]).consistent_read(true);
    let mut pages = call.into_paginator().items().send();
    let mut found = BTreeSet::new();
    while let Some(row) = pages.next().await {
        let row = row.expect("a row");
        let text = format!("{row:?}");
        if words.iter().any(|word| text.contains(word)) {
            let part = |name: &str| row[name].as_s().expect("a text").clone();
            found.insert((part("pk"), part("sk")));
        }
    }
    found
}

fn kind(key: &(String, String)) -> &str {
    key.0.split('#').next().unwrap_or_default()
}

#[tokio::test]
async fn everything_of_a_person_is_exported_and_after_a_week_erased() {
    let stack = Stack::connect();
    let artist = stack.new_writer().await;
    let account: Address = artist.artist.wallet.parse().expect("an address");
    let (id, email, token) = (stack.artist_id(&artist.artist), &artist.artist.email, &artist.artist.token);
    let names = ["first", "second"].map(|word| format!("{word}{}", &id[..8]));
    for name in &names {
        let change = json!({"username": name, "bio": format!("I am {name}.")});
        Answer::of(stack.patch("/artists/me").bearer_auth(token).json(&change)).await.expect_success();
    }
    let payout = account.create(3);
    stack.add_payout_address(&artist.artist, payout).await.expect_success();
    let body = json!({"name": "Mine", "uri": "ar://mine"});
    let made = stack.write("/collections", &artist.key, &body, &[("idempotency-key", "mine")]).await.expect_success();
    let comments = format!("/comments/eip155:8453/erc1155:{:#x}", stack.demo_collection(0));
    let said = json!({"tokenId": "1", "text": "I was here"});
    let _ = stack.write(&comments, &artist.key, &said, &[]).await;
    let upload = stack.post("/uploads").bearer_auth(token).json(&json!({"contentType": "image/png", "size": 1000}));
    Answer::of(upload).await.expect_success();
    stack.claim_link(&artist.key, artist.collection, json!({"count": 1})).await;
    // Nothing of the kind happens here: deliveries that the index adds meanwhile would be missing in an earlier export.
    let webhook = json!({"url": "https://example.com/mine", "types": ["collection.accepted"]});
    Answer::of(stack.post("/webhooks").bearer_auth(token).json(&webhook)).await.expect_success();
    let address: Email = email.parse().expect("an address");
    let mut words: Vec<String> = vec![id.clone(), email.clone(), address.fingerprint(), address.mailbox()];
    words.extend(names.clone());
    let of_account = [artist.artist.wallet.clone(), format!("{payout:#x}")];
    let in_own_tables: Vec<String> = words.iter().cloned().chain(of_account).collect();

    // Every row that mentions the person is in the export, or says nothing that isn't.
    let export = Answer::of(stack.get("/artists/me/export").bearer_auth(token)).await.expect_success();
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    let rows = export.body["rows"].as_array().expect("rows");
    let exported: BTreeSet<_> = rows.iter().map(|row| (text(row, "pk"), text(row, "sk"))).collect();
    let mut derived =
        vec!["EMAIL", "WALLET", "USERNAME", "SEARCH", "INBOX", "KEY", "REPLAY", "CLAIM", "QUEUE", "WEBHOOKS_READY"];
    derived.extend(STAY);
    for table in &TABLES[1..] {
        let kept = mentions(&stack, table, &in_own_tables).await;
        let missing: Vec<_> = kept.difference(&exported).filter(|key| !derived.contains(&kind(key))).collect();
        assert!(missing.is_empty(), "not exported: {missing:?}");
    }
    for expected in
        ["ARTIST", "PAYOUTS", "ACTIVITY", "TRANSACTIONS", "ACCOUNT", "UPLOADS", "USE", "GUESSES", "WEBHOOKS", "CLAIMS"]
    {
        assert!(exported.iter().any(|key| kind(key) == expected), "no {expected} in {exported:?}");
    }
    let key = rows.iter().find(|row| row["sk"].as_str().is_some_and(|sk| sk.starts_with("KEY#"))).expect("the key");
    assert!(key["prefix"].is_string() && key["hash"].is_null(), "{key}");

    stack.set_balance(account, 5).await;
    let answer = delete(&stack, &artist.artist, &json!({})).await.expect_error(409);
    assert!(
        answer.body["message"].as_str().is_some_and(|words| words.contains("0.000000000000000005 ETH")),
        "{answer:?}"
    );
    delete(&stack, &artist.artist, &json!({"abandon": true})).await.expect_success();
    delete(&stack, &artist.artist, &json!({"abandon": true})).await.expect_error(401);
    let mails = stack.mails_to(email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("will be deleted in 7 days")), "{mails:?}");

    // Nothing happens before it is due.
    stack.work("erase-artists").await;
    Answer::of(stack.get("/transactions").header("x-api-key", &artist.key)).await.expect_success();
    run(&stack, &id, "due_at").await;
    Answer::of(stack.get("/transactions").header("x-api-key", &artist.key)).await.expect_error(401);
    // Its transactions come to their end first.
    eventually("the account is erased", async || {
        run(&stack, &id, "begun_at").await;
        deletion(&stack, &id).await.is_none().then_some(())
    })
    .await;

    // What stays has no more than the random id or the mailbox's hash, and expires.
    let mut left = BTreeSet::new();
    let gone = patience::eventually("nothing is left", async || {
        left.clear();
        for table in TABLES {
            let words = if table == "ChainTable" { &words } else { &in_own_tables };
            left.extend(mentions(&stack, table, words).await.into_iter().filter(|key| !STAY.contains(&kind(key))));
        }
        Ok(left.is_empty().then_some(()))
    });
    assert!(gone.await.is_ok(), "left: {left:?}, of {}", made.body);
    Answer::of(stack.get(&format!("/artists/{}", artist.artist.wallet))).await.expect_error(404);

    // Who comes again is somebody else.
    let again = stack.sign_in(email).await;
    assert_ne!(again.wallet, artist.artist.wallet);
    let name = json!({"username": names[1]});
    Answer::of(stack.patch("/artists/me").bearer_auth(&again.token).json(&name)).await.expect_success();
}

#[tokio::test]
async fn signing_in_takes_the_deletion_back_until_it_begins() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let id = stack.artist_id(&artist);
    let first = delete(&stack, &artist, &json!({})).await.expect_success();
    assert!(first.body["erased_after"].is_string(), "{first:?}");
    let back = stack.sign_in(&artist.email).await;
    assert_eq!((back.wallet.as_str(), deletion(&stack, &id).await), (artist.wallet.as_str(), None));
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("will not be deleted")), "{mails:?}");
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&back.token)).await.expect_success();
    let kinds: Vec<_> = activity.body["activity"].as_array().expect("a list").iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["deletion_cancelled", "signed_in", "deletion_requested", "signed_in"]);

    delete(&stack, &back, &json!({"abandon": false})).await.expect_success();
    run(&stack, &id, "due_at").await;
    let other = stack.sign_in(&artist.email).await;
    assert_ne!(other.wallet, artist.wallet);
    assert!(deletion(&stack, &id).await.is_some(), "a new account took another one's deletion back");
    run(&stack, &id, "begun_at").await;
    assert_eq!(deletion(&stack, &id).await, None);
    Answer::of(stack.get("/artists/activity").bearer_auth(&other.token)).await.expect_success();
}

#[tokio::test]
async fn wrong_requests_delete_nothing() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let wrong = delete(&stack, &artist.artist, &json!({"abandon": "yes"})).await.expect_error(400);
    assert_eq!(wrong.failing_fields(), ["abandon"]);
    Answer::of(stack.delete("/artists/me")).await.expect_error(401);
    Answer::of(stack.delete("/artists/me").header("x-api-key", &artist.key)).await.expect_error(403);
    assert_eq!(deletion(&stack, &stack.artist_id(&artist.artist)).await, None);
}
