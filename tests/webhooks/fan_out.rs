//! What of the logs waits for which webhook, and from when on.

use std::sync::{Arc, Mutex, atomic::Ordering};

use serde_json::json;
use tests::Stack;

use super::{
    receiver::Tally,
    sending::{numbers, until},
    world::World,
};

#[tokio::test]
async fn an_event_goes_to_the_webhooks_of_its_own_artist_only() {
    const ARTISTS: usize = 3;
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, ARTISTS).await;
    for artist in 0..ARTISTS {
        world.webhook(artist, &format!("{}/{artist}", tally.url)).await;
    }
    world.tell(2).await;
    world.sandbox.invoke(&json!({})).await;
    for artist in 0..ARTISTS {
        assert_eq!(numbers(&tally, &format!("/{artist}")), world.sequences(artist));
    }
}

#[tokio::test]
async fn a_position_moves_once_all_before_it_is_stored_and_noted() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&steps);
    world.proxy.observe(move |target, request, _| {
        let request = String::from_utf8_lossy(request);
        let step = match target.rsplit('.').next() {
            // One that ends a delivery deletes its row, too.
            Some("BatchWriteItem") if !request.contains("DeleteRequest") => "rows",
            Some("UpdateItem") if request.contains("ADDED#") => "note",
            Some("TransactWriteItems") if request.contains("LOG#") => "position",
            _ => return,
        };
        seen.lock().expect("nobody panicked").push(step);
    });
    world.tell(60).await;
    world.sandbox.invoke(&json!({})).await;
    assert_eq!(*steps.lock().expect("nobody panicked"), ["rows", "rows", "rows", "note", "position"]);
}

#[tokio::test]
async fn a_try_under_way_goes_on_with_nothing_of_a_part_that_is_half_stored() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 1).await;
    world.webhook(0, &format!("{}/x", tally.url)).await;
    tally.holds.store(true, Ordering::Relaxed);
    world.tell(1).await;
    world.sandbox.start(&json!({})).await;
    until("a try", async || tally.count("/x") == 1).await;
    // Of three writes at once, the first fails, until the worker gives up.
    world.proxy.refuse(Some(World::message(2)));
    world.tell(60).await;
    until("a refusal", async || world.proxy.refusals.load(Ordering::Relaxed) >= 1).await;
    tally.holds.store(false, Ordering::Relaxed);
    until("three refusals", async || world.proxy.refusals.load(Ordering::Relaxed) >= 3).await;
    world.proxy.refuse(None);
    world.work_until(until("all are sent", async || tally.count("/x") >= 61)).await;
    assert_eq!(numbers(&tally, "/x"), world.sequences(0));
}
