//! Webhooks: their endpoints, and what is sent to them.

mod challenges;
mod fan_out;
mod final_chain;
mod hostile;
mod killed;
mod queue;
pub mod receiver;
mod rotation;
mod sending;
mod steps;
mod wake;
mod world;

use alloy::{
    primitives::{Address, keccak256},
    providers::ext::AnvilApi,
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::model::{DAY, DeliveryId};
use tests::{Answer, SignedIn, Stack, eventually, fields};
use uuid::Uuid;

use receiver::Receiver;

fn unix_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_secs()
}

/// Which course a test of chance takes: `SEED`, or always the same one.
fn seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    seed
}

fn free_sale() -> Value {
    json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX})
}

/// An account with money that the node signs for.
async fn buyer(stack: &Stack) -> Address {
    let buyer = Address::from_word(keccak256(Uuid::new_v4()));
    stack.chain().anvil_impersonate_account(buyer).await.expect("an account");
    stack.set_balance(buyer, 1_000_000_000_000_000_000).await;
    buyer
}

/// An artist's webhook.
struct Hook<'a> {
    stack: &'a Stack,
    artist: &'a SignedIn,
    id: String,
    secret: String,
}

impl<'a> Hook<'a> {
    async fn create(stack: &'a Stack, artist: &'a SignedIn, body: Value) -> Self {
        let answer = Answer::of(stack.post("/webhooks").bearer_auth(&artist.token).json(&body)).await.expect_success();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let (id, secret) = (text(&answer.body["webhook"]["id"]), text(&answer.body["secret"]));
        Self { stack, artist, id, secret }
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        let url = format!("{}/webhooks/{}{path}", self.stack.map.api, self.id);
        let request = self.stack.http.request(method.parse().expect("a method"), url).bearer_auth(&self.artist.token);
        Answer::of(if body.is_null() { request } else { request.json(&body) }).await
    }

    async fn test(&self) -> String {
        let answer = self.ask("POST", "/test", Value::Null).await.expect_success();
        answer.body["id"].as_str().expect("an id").to_owned()
    }

    async fn status(&self) -> Value {
        self.ask("GET", "", Value::Null).await.expect_success().body["status"].clone()
    }

    /// A delivery, once it is as meant.
    async fn wait_for(&self, delivery: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        eventually(format!("{delivery} is as meant"), async || {
            let page = self.ask("GET", "/deliveries?limit=100", Value::Null).await.expect_success();
            let found = page.body["deliveries"].as_array().expect("a list").iter().find(|row| row["id"] == delivery);
            found.filter(|row| is_meant(row)).cloned()
        })
        .await
    }

    /// Waits until it is noted that tries failed.
    async fn wait_for_failures(&self) {
        eventually("a failure is noted", async || {
            let row = self.stack.row(&self.stack.map.names["ArtistTable"], "WEBHOOKS_FAILING", &self.id).await;
            row.filter(|row| row.contains_key("failing_since"))
        })
        .await;
    }

    /// Sets a field of the row that says when the next try is due.
    async fn set_queue(&self, field: &str, value: u64) {
        let table = &self.stack.map.names["ArtistTable"];
        self.stack.set(table, "WEBHOOKS_FAILING", &self.id, field, AttributeValue::N(value.to_string())).await;
    }
}

#[tokio::test]
async fn webhooks_are_made_shown_changed_and_deleted() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let body = json!({"url": "https://example.com/x", "types": ["sale.updated", "moment.created", "sale.updated"],
        "collection": format!("{:#x}", Address::repeat_byte(7)), "description": "Printer"});
    let hook = Hook::create(&stack, &artist, body).await;
    assert_eq!((hook.secret.len(), hook.secret.starts_with("whsec_")), (50, true));
    let shown = hook.ask("GET", "", Value::Null).await.expect_success().body;
    let expected =
        ["collection", "created_at", "description", "id", "last_challenge", "rotated_at", "status", "types", "url"];
    assert_eq!(fields(&shown), expected);
    assert_eq!(shown["types"], json!(["moment.created", "sale.updated"]));
    assert_eq!((&shown["status"], &shown["rotated_at"]), (&json!("pending"), &Value::Null));
    let list = Answer::of(stack.get("/webhooks").bearer_auth(&artist.token)).await.expect_success().body;
    assert_eq!(list["webhooks"].as_array().map(Vec::len), Some(1));
    assert_eq!((&list["webhooks"][0]["id"], &list["webhooks"][0]["url"]), (&shown["id"], &shown["url"]));
    assert!(!list.to_string().contains("whsec_"), "a secret shows");

    let changed = hook.ask("PATCH", "", json!({"types": [], "description": "", "active": false})).await;
    let changed = changed.expect_success().body;
    assert_eq!((&changed["types"], &changed["status"], &changed["url"]), (&json!([]), &json!("paused"), &shown["url"]));
    hook.ask("PATCH", "", json!({})).await.expect_error(400);
    hook.ask("POST", "/test", Value::Null).await.expect_error(409);
    hook.ask("PATCH", "", json!({"active": true})).await.expect_success();
    assert_eq!(
        hook.ask("PATCH", "", json!({"url": "https://example.com/y"})).await.body["url"],
        "https://example.com/y"
    );
    let wrong = hook.ask("PATCH", "", json!({"url": "http://10.0.0.1:80/", "types": ["x"], "active": 1})).await;
    assert_eq!(wrong.expect_error(400).failing_fields(), ["url", "types.0", "active"]);
    hook.ask("PATCH", "", json!({"url": "http://10.0.0.1:81/"})).await.expect_error(400);

    hook.ask("DELETE", "", Value::Null).await.expect_success();
    for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/rotate"), ("GET", "/deliveries")]
    {
        hook.ask(method, path, Value::Null).await.expect_error(404);
    }
}

#[tokio::test]
async fn only_the_signed_in_artist_makes_webhooks_and_ten_at_most() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    let body = json!({"url": "https://example.com/x"});
    Answer::of(stack.post("/webhooks").header("x-api-key", &collector.key).json(&body)).await.expect_error(403);
    Answer::of(stack.post("/webhooks").json(&body)).await.expect_error(401);
    let create =
        async |body: Value| Answer::of(stack.post("/webhooks").bearer_auth(&collector.artist.token).json(&body)).await;
    for url in ["https://10.0.0.1/", "http://example.com/", "https://localhost/", "http://10.0.0.1:8080/", ""] {
        assert_eq!(create(json!({"url": url})).await.expect_error(400).failing_fields(), ["url"], "{url}");
    }
    let mails = stack.mails_to(&collector.artist.email).await.len();
    for _ in 0..10 {
        create(body.clone()).await.expect_success();
    }
    create(body).await.expect_error(409);
    assert_eq!(stack.mails_to(&collector.artist.email).await.len(), mails + 10, "each is told by mail");
}

#[tokio::test]
async fn what_happens_to_an_artists_moment_is_sent_in_order_and_signed() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let (writer, stranger) = (stack.new_collector().await, stack.new_artist().await);
    let hook = Hook::create(&stack, &writer.artist, json!({"url": format!("{}/all", receiver.url)})).await;
    let some = json!({"url": format!("{}/some", receiver.url), "types": ["moment.collected"]});
    let some = Hook::create(&stack, &writer.artist, some).await;
    Hook::create(&stack, &stranger, json!({"url": format!("{}/stranger", receiver.url)})).await;
    let other = json!({"url": format!("{}/other", receiver.url), "collection": Address::repeat_byte(9)});
    Hook::create(&stack, &writer.artist, other).await;

    let collection = stack.publish(&writer.key, free_sale(), json!({})).await;
    let buyer = buyer(&stack).await;
    stack.collect(collection, buyer, "High water").await;

    let collected = receiver.wait_for("/some", 1).await;
    assert_eq!(collected[0].json()["type"], "moment.collected");
    let named = |message: &receiver::Message| message.json()["type"].as_str().expect("a type").to_owned();
    // The contract says the comment first.
    let all = eventually("the collect is told", async || {
        let all = receiver.wait_for("/all", 1).await;
        all.iter().any(|message| named(message) == "moment.collected").then_some(all)
    })
    .await;
    let types: Vec<_> = all.iter().map(named).collect();
    let place = |wanted: &str| types.iter().position(|kind| kind == wanted);
    assert!(place("collection.created") < place("moment.created"), "{types:?}");
    assert!(place("moment.created") < place("moment.collected") && place("moment.created").is_some(), "{types:?}");
    let of_chain = all.iter().map(receiver::Message::json).filter(|event| event["source"] == "/chains/8453");
    let sequences: Vec<_> = of_chain.map(|event| event["sequence"].as_str().expect("a number").to_owned()).collect();
    assert!(sequences.is_sorted() && !sequences.is_empty(), "{sequences:?}");
    for message in &all {
        assert!(message.is_signed_with(&hook.secret) && !message.is_signed_with(&some.secret));
        let mut altered = message.clone();
        altered.body = [&message.body[..], b" "].concat().into();
        assert!(!altered.is_signed_with(&hook.secret), "an altered body was taken");
        let event = message.json();
        assert!(message.id().starts_with(event["id"].as_str().expect("an id")), "{}", message.id());
    }
    let mut ids: Vec<_> = all.iter().map(|message| message.id().to_owned()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "each is sent once");
    assert!(receiver.messages().iter().all(|message| !["/stranger", "/other"].contains(&message.path.as_str())));
}

#[tokio::test]
async fn for_a_day_after_a_rotation_both_secrets_sign() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/x", receiver.url)})).await;
    let rotate = async || {
        let answer = hook.ask("POST", "/rotate", Value::Null).await.expect_success();
        answer.body["secret"].as_str().expect("a secret").to_owned()
    };
    let second = rotate().await;
    hook.test().await;
    let message = &receiver.wait_for("/x", 1).await[0];
    assert!(message.is_signed_with(&hook.secret) && message.is_signed_with(&second));
    assert_eq!(message.json()["type"], "webhook.test");
    let third = rotate().await;
    hook.test().await;
    let message = &receiver.wait_for("/x", 2).await[1];
    assert!(!message.is_signed_with(&hook.secret) && message.is_signed_with(&second) && message.is_signed_with(&third));
    let table = &stack.map.names["ArtistTable"];
    let row = stack.row(table, &format!("WEBHOOKS#{}", stack.artist_id(&artist)), "WEBHOOKS").await.expect("a row");
    let AttributeValue::L(mut webhooks) = row["webhooks"].clone() else { panic!("no list: {row:?}") };
    let AttributeValue::M(webhook) = &mut webhooks[0] else { panic!("no webhook") };
    webhook.insert("rotated_at".to_owned(), AttributeValue::N((unix_now() - DAY - 1).to_string()));
    let partition = format!("WEBHOOKS#{}", stack.artist_id(&artist));
    stack.set(table, &partition, "WEBHOOKS", "webhooks", AttributeValue::L(webhooks)).await;
    hook.test().await;
    let message = &receiver.wait_for("/x", 3).await[2];
    assert!(!message.is_signed_with(&second) && message.is_signed_with(&third));
}

#[tokio::test]
async fn a_failed_delivery_is_tried_again_and_later_ones_wait_for_it() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/x", receiver.url)})).await;
    receiver.answer(503);
    let first = hook.test().await;
    let failed = hook.wait_for(&first, |row| row["attempts"].as_u64() >= Some(1)).await;
    assert_eq!((&failed["status"], &failed["last_attempt"]["status"]), (&json!("pending"), &json!(503)));
    hook.ask("POST", &format!("/deliveries/{first}/redeliver"), Value::Null).await.expect_error(409);
    receiver.answer(204);
    // A test has what waits tried at once.
    let second = hook.test().await;
    let done = hook.wait_for(&second, |row| row["status"] == "delivered").await;
    assert_eq!((&done["attempts"], &done["last_attempt"]["status"]), (&json!(1), &json!(204)));
    let done = hook.wait_for(&first, |row| row["status"] == "delivered").await;
    assert!(done["attempts"].as_u64() >= Some(2), "{done}");
    let order: Vec<_> = receiver.messages().iter().map(|message| message.id().to_owned()).collect();
    assert_eq!(order.last(), Some(&second), "{order:?}");
    assert!(order[..order.len() - 1].iter().all(|id| *id == first), "{order:?}");

    let again = hook.ask("POST", &format!("/deliveries/{first}/redeliver"), Value::Null).await.expect_success().body;
    let again = hook.wait_for(again["id"].as_str().expect("an id"), |row| row["status"] == "delivered").await;
    assert_eq!(again["event_id"], first.as_str());
    assert_eq!(receiver.messages().last().expect("a message").id(), first);
    let unknown = DeliveryId::next();
    hook.ask("POST", &format!("/deliveries/{unknown}/redeliver"), Value::Null).await.expect_error(404);
    let page = hook.ask("GET", "/deliveries?limit=2", Value::Null).await.expect_success();
    assert_eq!(page.body["deliveries"].as_array().map(Vec::len), Some(2));
    assert!(page.header("link").contains("before="), "{page:?}");
}

#[tokio::test]
async fn a_receiver_that_is_gone_or_fails_for_five_days_is_sent_nothing_more() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/x", receiver.url)})).await;
    receiver.answer(410);
    let gone = hook.test().await;
    hook.wait_for(&gone, |row| row["status"] == "refused").await;
    eventually("the webhook is gone", async || (hook.status().await == "gone").then_some(())).await;
    hook.ask("POST", "/test", Value::Null).await.expect_error(409);
    hook.ask("PATCH", "", json!({"active": true})).await.expect_success();

    receiver.answer(500);
    let tried = hook.test().await;
    hook.wait_for(&tried, |row| row["attempts"].as_u64() >= Some(1)).await;
    hook.wait_for_failures().await;
    let mails = stack.mails_to(&artist.email).await.len();
    let mut looks = 0;
    eventually("the webhook fails, and a mail says so", async || {
        // A try that is under way writes the time that it read: the row is set again.
        if looks % 20 == 0 && hook.status().await == "active" {
            hook.set_queue("failing_since", unix_now() - 5 * DAY - 1).await;
            hook.ask("POST", "/test", Value::Null).await;
        }
        looks += 1;
        (hook.status().await == "failing" && stack.mails_to(&artist.email).await.len() > mails).then_some(())
    })
    .await;
}
