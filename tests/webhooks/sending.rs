//! What is sent, and what isn't.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use serde_json::json;
use shared::{
    model::{DeliveryStatus, WebhookId, WebhookStatus},
    store::artist::QueuePlace,
};
use tests::{Stack, eventually};

use super::{
    DAY,
    receiver::{Liar, Receiver, Tally},
    unix_now,
    world::{World, text},
};

/// Waits until something is so.
pub async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    eventually(what, async || is_so().await.then_some(())).await;
}

/// The places in the log of what came.
pub fn numbers(tally: &Tally, path: &str) -> Vec<u64> {
    tally.came(path).iter().map(|(number, _)| *number).collect()
}

fn is_about(request: &[u8], what: &str) -> bool {
    String::from_utf8_lossy(request).contains(what)
}

async fn turn(world: &World, webhook: WebhookId, status: WebhookStatus) {
    let changed = world.webhooks.change(world.artist(0), webhook, |webhook| webhook.status = status).await;
    changed.expect("a row").expect("a webhook");
}

#[tokio::test]
async fn a_webhook_that_is_off_gets_what_waited_once_it_is_on_and_nothing_of_meanwhile() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/x", tally.url)).await;
    world.wait(0, webhook, unix_now()).await;
    turn(&world, webhook, WebhookStatus::Paused).await;
    world.tell(1).await;
    world.sandbox.invoke(&json!({})).await;
    assert_eq!(tally.count("/x"), 0);
    turn(&world, webhook, WebhookStatus::Active).await;
    world.queue.ask(world.artist(0), webhook).await.expect("a row");
    world.tell(1).await;
    world.sandbox.invoke(&json!({})).await;
    let mut came = numbers(&tally, "/x");
    came.sort_unstable();
    assert_eq!(came, [0, 2], "what waited has no place in the log");
}

#[tokio::test]
async fn a_delivery_is_given_up_after_three_days_and_the_next_is_signed_as_of_its_try() {
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/x", receiver.url)).await;
    let began = unix_now();
    world.wait(0, webhook, unix_now() - 3 * DAY - 1).await;
    world.wait(0, webhook, unix_now() - 3 * DAY + 600).await;
    world.sandbox.invoke(&json!({})).await;
    let rows = world.all_deliveries(0, webhook).await;
    let what: Vec<_> = rows.iter().map(|row| (row.status, row.attempts)).collect();
    assert_eq!(what, [(DeliveryStatus::Delivered, 1), (DeliveryStatus::Expired, 0)]);
    let messages = receiver.messages();
    assert_eq!(messages.len(), 1);
    let timestamp = messages[0].headers["webhook-timestamp"].to_str().expect("a text").parse::<u64>();
    assert!((began..=unix_now()).contains(&timestamp.expect("a number")));
}

#[tokio::test]
async fn events_that_come_a_day_late_are_not_sent() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    for age in [DAY + 1, DAY - 600, 0] {
        world.age = age;
        world.tell(1).await;
    }
    world.sandbox.invoke(&json!({})).await;
    assert_eq!(numbers(&tally, "/x"), [2, 3]);
}

#[tokio::test]
async fn a_log_that_begins_anew_is_passed_on_from_its_start() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    world.tell(3).await;
    world.sandbox.invoke(&json!({})).await;
    world.begin_log_anew().await;
    world.tell(2).await;
    world.sandbox.invoke(&json!({})).await;
    assert_eq!(numbers(&tally, "/x"), [1, 2, 3, 1, 2]);
}

#[tokio::test]
async fn nothing_of_a_part_is_sent_before_all_of_it_is_stored() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/x", tally.url)).await;
    world.tell(60).await;
    world.queue.note_added(world.artist(0), webhook).await.expect("a row");
    // Of three writes at once, the first fails, after the others are done.
    world.proxy.answered_before_failure.store(2, Ordering::Relaxed);
    world.proxy.before_failure.store(0, Ordering::Relaxed);
    world.work_until(until("all are sent", async || tally.count("/x") >= 60)).await;
    assert!(world.proxy.before_failure.load(Ordering::Relaxed) < 0, "no write failed");
    assert_eq!(numbers(&tally, "/x"), world.sequences(0));
}

#[tokio::test]
async fn a_webhook_that_its_artist_pauses_during_a_try_stays_paused() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/gone", tally.url)).await;
    tally.holds.store(true, Ordering::Relaxed);
    world.tell(1).await;
    world.sandbox.start(&json!({})).await;
    until("a try", async || tally.count("/gone") == 1).await;
    turn(&world, webhook, WebhookStatus::Paused).await;
    tally.holds.store(false, Ordering::Relaxed);
    let is_refused = async || world.all_deliveries(0, webhook).await[0].status == DeliveryStatus::Refused;
    until("the try is refused", is_refused).await;
    world.end().await;
    let found = world.webhooks.find(world.artist(0), webhook).await.expect("a row").expect("a webhook");
    assert_eq!(found.status, WebhookStatus::Paused);
}

#[tokio::test]
async fn receivers_that_hang_again_take_at_most_32_places() {
    const ARTISTS: usize = 14;
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, ARTISTS).await;
    for artist in 1..ARTISTS {
        for _ in 0..10 {
            let webhook = world.webhook(artist, &format!("{}/hang", tally.url)).await;
            world.wait(artist, webhook, unix_now()).await;
        }
    }
    let look = world.queue.look(unix_now(), &mut QueuePlace::default(), |_| false).await.expect("rows");
    for mut due in look.due {
        (due.failures, due.failing_since) = (1, Some(unix_now()));
        world.queue.put_off(&due, unix_now()).await.expect("rows");
    }
    world.webhook(0, &format!("{}/good", tally.url)).await;
    // On a slow machine some give up before the good one comes: then they are put off before others are tried.
    let put_off = Arc::new(AtomicU64::default());
    let seen = Arc::clone(&put_off);
    world.proxy.observe(move |target, request, _| {
        let is_put_off = target.ends_with(".TransactWriteItems") && is_about(request, "WEBHOOKS_FAILING");
        seen.fetch_add(u64::from(is_put_off), Ordering::Relaxed);
    });
    world.sandbox.start(&json!({})).await;
    until("32 tries", async || tally.count("/hang") >= 32).await;
    world.tell(1).await;
    until("a good one", async || tally.count("/good") == 1).await;
    let tries = tally.count("/hang");
    assert!(tries <= 32 + put_off.load(Ordering::Relaxed), "{tries} tries, and too few of them have ended");
}

#[tokio::test]
async fn a_try_that_works_ends_the_failures_before_it() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/x", tally.url)).await;
    let look = async || world.queue.look(unix_now(), &mut QueuePlace::default(), |_| false).await.expect("rows").due;
    world.wait(0, webhook, unix_now()).await;
    for mut due in look().await {
        (due.failures, due.failing_since) = (3, Some(unix_now() - DAY));
        world.queue.put_off(&due, unix_now()).await.expect("rows");
    }
    world.sandbox.invoke(&json!({})).await;
    assert_eq!(tally.count("/x"), 1);
    world.queue.note_added(world.artist(0), webhook).await.expect("a row");
    let due: Vec<_> = look().await.iter().map(|due| (due.failures, due.failing_since)).collect();
    assert_eq!(due, [(0, None)]);
}

#[tokio::test]
async fn a_webhook_whose_rows_cannot_be_read_is_looked_at_three_times_in_a_run() {
    let (stack, tally, looks) = (Stack::connect(), Tally::start().await, Arc::new(AtomicU32::default()));
    let mut world = World::start(&stack, 2).await;
    let spoiled = world.webhook(0, &format!("{}/spoiled", tally.url)).await;
    world.webhook(1, &format!("{}/good", tally.url)).await;
    let row =
        world.client.put_item().table_name("ArtistTable").item("pk", text(format!("DELIVERIES#{}", world.artist(0))));
    row.item("sk", text(format!("{spoiled}#PENDING#0"))).send().await.expect("a row");
    let (seen, first) = (Arc::clone(&looks), format!("{spoiled}#PENDING#"));
    world.proxy.observe(move |target, request, _| {
        let is_look = target.ends_with(".Query") && is_about(request, &first);
        seen.fetch_add(u32::from(is_look), Ordering::Relaxed);
    });
    world.tell(1).await;
    world.sandbox.invoke(&json!({})).await;
    assert_eq!((looks.load(Ordering::Relaxed), tally.count("/good"), tally.count("/spoiled")), (3, 1, 0));
}

#[tokio::test]
async fn an_address_that_is_not_admitted_is_not_connected_to() {
    let stack = Stack::connect();
    let mut world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, "http://127.0.0.2:9999/x").await;
    world.tell(1).await;
    world.sandbox.start(&json!({})).await;
    until("a try", async || {
        let first = world.deliveries.pending(world.artist(0), webhook, 1).await.expect("rows");
        first.first().is_some_and(|first| first.attempts > 0)
    })
    .await;
    let last = world.all_deliveries(0, webhook).await[0].last.clone().expect("a try");
    assert_eq!((last.status, last.error.as_deref()), (None, Some("its address isn't public")));
}

#[tokio::test]
async fn an_answer_that_does_not_end_counts_by_its_status() {
    let (stack, liar) = (Stack::connect(), Liar::start().await);
    let mut world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/silent", liar.url)).await;
    world.tell(2).await;
    world.sandbox.start(&json!({})).await;
    until("both are delivered", async || {
        let rows = world.all_deliveries(0, webhook).await;
        rows.len() == 2 && rows.iter().all(|row| row.status == DeliveryStatus::Delivered)
    })
    .await;
}

#[tokio::test]
async fn webhooks_that_are_made_at_once_are_all_there() {
    let stack = Stack::connect();
    let world = World::start(&stack, 1).await;
    futures::future::join_all((0..5).map(|_| world.webhook(0, "https://example.com/"))).await;
    assert_eq!(world.webhooks.list(world.artist(0)).await.expect("a row").len(), 5);
}
