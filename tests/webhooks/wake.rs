//! What wakes the worker, and what a wake and a delivery cost.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::{
    model::{DeliveryId, WebhookId},
    store::artist::{Delivery, QueuePlace},
};
use tests::Stack;

use super::{DAY, receiver::Tally, sending::until, unix_now, world::World};

async fn wait_for(tally: &Tally, path: &str, count: u64) {
    until(&format!("{count} messages to {path}"), async || tally.count(path) >= count).await;
}

#[tokio::test]
async fn streams_wake_the_worker_without_its_schedule() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    world.sandbox.follow_streams(&stack, &world.database).await;
    world.tell(3).await;
    wait_for(&tally, "/x", 3).await;
}

#[tokio::test]
async fn its_own_notes_wake_nobody_and_each_that_asks_for_it_does_once() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let world = World::start(&stack, 1).await;
    let webhook = world.webhook(0, &format!("{}/x", tally.url)).await;
    world.sandbox.follow_streams(&stack, &world.database).await;
    let wait = async || {
        let id = DeliveryId::next();
        let delivery = Delivery::new(id, webhook, id.to_string(), "x".to_owned(), json!({}).to_string(), unix_now());
        world.deliveries.add(&[(world.artist(0), delivery)]).await.expect("a row");
    };
    let note = async || world.queue.note_added(world.artist(0), webhook).await.expect("a row");

    wait().await;
    world.queue.ask(world.artist(0), webhook).await.expect("a row");
    wait_for(&tally, "/x", 1).await;
    world.end().await;

    wait().await;
    note().await;
    let row = world.client.put_item().table_name("ChainTable").item("pk", AttributeValue::S("EVENTS#8453".to_owned()));
    row.item("sk", AttributeValue::S(format!("{:020}", 1))).send().await.expect("a row");
    wait_for(&tally, "/x", 2).await;
    world.end().await;

    wait().await;
    note().await;
    world.fan_out.wake(unix_now()).await.expect("a row");
    wait_for(&tally, "/x", 3).await;
    world.end().await;

    // The three ends ran it, too. What a note began would have come before them.
    let runs = world.sandbox.log().matches("events delivered").count();
    assert_eq!(runs, 3 + 3, "what the worker notes has woken it: {}", world.sandbox.log());
}

/// What a run costs: calls, read units and write units. Without renewals of its lease, which come each second: how many
/// they are depends on how long it takes.
async fn cost(world: &World, what: &str) -> (usize, f64, f64) {
    world.recorder.take_calls();
    world.sandbox.invoke(&json!({})).await;
    let mut calls = world.recorder.take_calls();
    calls.retain(|call| call.update != "SET beat = :beat");
    let units = |writes: bool| -> f64 {
        let is_write =
            |operation: &str| ["Write", "Put", "Update", "Delete"].iter().any(|word| operation.contains(word));
        calls.iter().filter(|call| is_write(&call.operation) == writes).map(|call| call.capacity).sum()
    };
    let (reads, writes) = (units(false), units(true));
    println!("{what}: {} calls, {reads} read units, {writes} write units", calls.len());
    (calls.len(), reads, writes)
}

#[tokio::test]
async fn an_idle_wake_costs_little_however_many_webhooks_fail() {
    const FAILING: usize = 600;
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    world.tell(1).await;
    cost(&world, "the first event").await;
    let idle = cost(&world, "idle").await;
    assert!(idle.0 <= 20 && idle.2 <= 4.0, "{idle:?}");
    world.tell(1).await;
    let one = cost(&world, "one event").await;
    assert!(one.2 - idle.2 <= 14.0 && one.1 - idle.1 <= 40.0, "{one:?}");
    world.tell(100).await;
    let hundred = cost(&world, "a hundred events").await;
    assert!(hundred.2 <= 600.0, "{hundred:?}");
    assert_eq!(tally.count("/x"), 102);

    let (mut left, mut place) = (FAILING, QueuePlace::default());
    for _ in 0..FAILING {
        world.queue.note_added(world.artist(0), WebhookId::next()).await.expect("a row");
    }
    while left > 0 {
        for due in world.queue.look(unix_now(), &mut place, |_| false).await.expect("rows").due {
            world.queue.put_off(&due, unix_now() + DAY).await.expect("rows");
            left -= 1;
        }
    }
    let failing = cost(&world, "idle, 600 failing").await;
    assert_eq!(failing.0, idle.0, "a call for each page, and no more");
    assert!(failing.1 - idle.1 <= 8.0, "{failing:?}");
}
