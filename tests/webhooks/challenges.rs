//! Receivers prove that they want events before they get any.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::{
    model::{DeliveryStatus, WebhookStatus},
    store::artist::{QueuePlace, Webhook},
};
use tests::{Answer, Stack, eventually};

use super::{DAY, Hook, receiver::Receiver, unix_now, world::World};

#[tokio::test]
async fn what_waits_is_sent_once_the_challenge_is_answered() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/x", receiver.url)})).await;
    let sent = hook.test().await;
    hook.wait_for(&sent, |row| row["status"] == "delivered").await;
    let shown = hook.ask("GET", "", Value::Null).await.expect_success().body;
    assert_eq!((&shown["status"], &shown["last_challenge"]), (&json!("active"), &Value::Null));
    let challenges = receiver.challenges("/x");
    assert_eq!(challenges.len(), 1);
    assert!(challenges[0].is_signed_with(&hook.secret), "the challenge isn't signed");
    let text = challenges[0].json()["data"]["challenge"].clone();
    assert!(text.as_str().is_some_and(|text| text.len() == 32), "{text}");
}

#[tokio::test]
async fn receivers_that_did_not_ask_for_events_get_none_and_their_artists_see_why() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    for (path, error) in [("/unasked", "its answer isn't the challenge"), ("/echo", "its answer isn't the challenge")] {
        let hook = Hook::create(&stack, &artist, json!({"url": format!("{}{path}", receiver.url)})).await;
        let sent = hook.test().await;
        let shown = eventually("a try", async || {
            let shown = hook.ask("GET", "", Value::Null).await.expect_success().body;
            (!shown["last_challenge"].is_null()).then_some(shown)
        })
        .await;
        assert_eq!(shown["status"], "pending");
        assert_eq!(
            (&shown["last_challenge"]["status"], &shown["last_challenge"]["error"]),
            (&json!(200), &json!(error))
        );
        let waiting = hook.wait_for(&sent, |_| true).await;
        assert_eq!((&waiting["status"], &waiting["attempts"]), (&json!("pending"), &json!(0)));
    }
    assert!(receiver.messages().is_empty(), "events were sent");
}

#[tokio::test]
async fn another_url_is_challenged_before_what_waits_is_sent_there() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/first", receiver.url)})).await;
    let sent = hook.test().await;
    hook.wait_for(&sent, |row| row["status"] == "delivered").await;

    let stranger = json!({"url": format!("{}/unasked", receiver.url)});
    let changed = hook.ask("PATCH", "", stranger.clone()).await.expect_success().body;
    assert_eq!(changed["status"], "pending");
    let second = hook.test().await;
    eventually("a challenge", async || (!receiver.challenges("/unasked").is_empty()).then_some(())).await;
    // The same URL again, and off and on, take nothing for proved.
    for body in [stranger, json!({"active": false}), json!({"active": true})] {
        let is_off = body["active"] == false;
        let status = hook.ask("PATCH", "", body).await.expect_success().body["status"].clone();
        assert_eq!(status, if is_off { "paused" } else { "pending" });
    }
    hook.ask("PATCH", "", json!({"url": format!("{}/second", receiver.url)})).await.expect_success();
    hook.wait_for(&second, |row| row["status"] == "delivered").await;
    let paths: Vec<_> = receiver.messages().into_iter().map(|message| message.path).collect();
    assert_eq!(paths, ["/first", "/second"]);
}

#[tokio::test]
async fn receiver_that_answers_410_or_nothing_for_a_day_is_left_alone() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let world = World::start(&stack, 1).await;
    let status = async |url: String, since: u64, answer: u16| {
        receiver.answer(answer);
        let mut webhook = Webhook::new(url.parse().expect("a URL"), since);
        webhook.challenge(since);
        assert!(world.webhooks.add(world.artist(0), &webhook).await.expect("a row"), "too many");
        world.wait(0, webhook.id, unix_now()).await;
        world.sandbox.invoke(&json!({})).await;
        let found = world.webhooks.find(world.artist(0), webhook.id).await.expect("a row").expect("a webhook");
        let waiting = world.all_deliveries(0, webhook.id).await;
        assert!(waiting.iter().all(|row| (row.status, row.attempts) == (DeliveryStatus::Pending, 0)), "{waiting:?}");
        found.status
    };
    let url = |path: &str| format!("{}/unasked/{path}", receiver.url);
    assert_eq!(status(url("gone"), unix_now(), 410).await, WebhookStatus::Gone);
    assert_eq!(status(url("late"), unix_now() - DAY - 1, 200).await, WebhookStatus::Failing);
    assert_eq!(status("http://127.0.0.2:9999/x".to_owned(), unix_now() - DAY - 1, 200).await, WebhookStatus::Failing);
    assert!(receiver.messages().is_empty(), "events were sent");
}

#[tokio::test]
async fn another_receiver_is_not_blamed_for_what_the_last_one_did() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let (world, now) = (World::start(&stack, 1).await, unix_now());
    let mut webhook = Webhook::new(format!("{}/unasked", receiver.url).parse().expect("a URL"), now);
    webhook.challenge(now);
    assert!(world.webhooks.add(world.artist(0), &webhook).await.expect("a row"), "too many");
    world.wait(0, webhook.id, now).await;
    let due = async || {
        let found = world.queue.look(now + 10 * DAY, &mut QueuePlace::default(), |_| false).await.expect("rows");
        found.due.into_iter().next().expect("a webhook that is due")
    };
    let mut blamed = due().await;
    (blamed.failures, blamed.failing_since) = (9, Some(now - 2 * DAY));
    world.queue.put_off(&blamed, now - 1).await.expect("rows");
    let mut failures = 0;
    for _ in 0..2 {
        world.sandbox.invoke(&json!({})).await;
        let due = due().await;
        // A run tries more than once, as long as the pauses are short.
        assert!((failures + 1..9).contains(&due.failures), "{due:?}");
        assert!(due.failing_since.is_some_and(|since| since >= now), "{due:?}");
        failures = due.failures;
        world.queue.put_off(&due, now - 1).await.expect("rows");
    }
}

#[tokio::test]
async fn webhooks_from_before_challenges_go_on() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/unasked", receiver.url)).await;
    // As it was stored then.
    let partition = format!("WEBHOOKS#{}", world.artist(0));
    let key = |text: &str| AttributeValue::S(text.to_owned());
    let call =
        world.client.update_item().table_name("ArtistTable").key("pk", key(&partition)).key("sk", key("WEBHOOKS"));
    call.update_expression("REMOVE webhooks[0].challenge").send().await.expect("a row");
    world.wait(0, webhook, unix_now()).await;
    world.sandbox.invoke(&json!({})).await;
    assert_eq!((receiver.messages().len(), receiver.challenges("/unasked").len()), (1, 0));
}

#[tokio::test]
async fn challenges_are_limited_for_each_artist() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let artist = stack.new_artist().await;
    let hook = Hook::create(&stack, &artist, json!({"url": format!("{}/unasked", receiver.url)})).await;
    // 60 in an hour of the clock, which may end meanwhile.
    for _ in 0..120 {
        let answer = hook.ask("PATCH", "", json!({"active": true})).await;
        if answer.status == 429 {
            let made = json!({"url": format!("{}/unasked", receiver.url)});
            Answer::of(stack.post("/webhooks").bearer_auth(&artist.token).json(&made)).await.expect_error(429);
            hook.ask("PATCH", "", json!({"description": "Printer"})).await.expect_success();
            return;
        }
        answer.expect_success();
    }
    panic!("challenges aren't limited");
}
