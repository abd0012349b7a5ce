//! A worker that is killed at any moment loses nothing, and each webhook gets everything in order.

use std::{
    collections::BTreeMap,
    env,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde_json::json;
use shared::model::{DeliveryStatus, WebhookId};
use tests::{Stack, history::Dice};

use super::{receiver::Tally, steps::Phase, world::World};

const ARTISTS: usize = 3;
const EACH: usize = 2;

/// Events for each artist before each kill.
const EVENTS: u64 = 15;

/// Milliseconds before each answer of the database, so that a kill is likely to come between two writes.
const DELAY: u64 = 5;

/// Milliseconds that a receiver has a message.
const LATENCY: u64 = 5;

/// Of this many messages, an unsteady receiver refuses one.
const REFUSES: u64 = 12;

#[tokio::test]
async fn a_worker_that_is_killed_loses_nothing_and_keeps_the_order() {
    kill(Phase::ALL.len() as u64, 24).await;
}

#[tokio::test]
#[ignore = "takes minutes: KILLS kills, 100 unless given, after SEED"]
async fn a_worker_that_is_killed_a_hundred_times_loses_nothing_and_keeps_the_order() {
    let kills = env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(100);
    kill(kills, kills).await;
}

/// An artist's webhook.
struct Subscriber {
    artist: usize,
    webhook: WebhookId,
    path: String,
}

async fn subscribe(world: &World, tally: &Tally) -> Vec<Subscriber> {
    let mut subscribers = Vec::new();
    for artist in 0..ARTISTS {
        for place in 0..EACH {
            let kind = if place == 0 { "good" } else { "unsteady" };
            let path = format!("/{kind}/{artist}/{place}");
            let webhook = world.webhook(artist, &format!("{}{path}", tally.url)).await;
            tally.steps.name(webhook, &path);
            subscribers.push(Subscriber { artist, webhook, path });
        }
    }
    subscribers
}

/// Has every webhook tried at once.
async fn ask(world: &World, subscribers: &[Subscriber]) {
    for subscriber in subscribers {
        world.queue.ask(world.artist(subscriber.artist), subscriber.webhook).await.expect("a row");
    }
}

/// A moment of a worker's run: within one of the wanted phases, or soon after one of any phase began, or at any time.
async fn moment(tally: &Tally, dice: &mut Dice, wanted: Option<Phase>) {
    let each = EVENTS * (ARTISTS * EACH) as u64;
    // At times any moment after it began to work.
    let chosen = wanted.or(Phase::ALL.get(dice.roll(8) as usize).copied());
    let phase = chosen.unwrap_or(Phase::FanOutProgress);
    let times = match phase {
        Phase::PutOff => EACH as u64,
        Phase::Finish => (ARTISTS * EACH) as u64,
        _ => each,
    };
    let (time, start) = (1 + dice.roll(times), Instant::now());
    let is_awaited = || tally.steps.entered(phase) < time || wanted.is_some_and(|phase| tally.steps.within(phase) == 0);
    while is_awaited() && start.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if wanted.is_some() {
        return;
    }
    tokio::time::sleep(Duration::from_millis(dice.roll(if chosen.is_some() { DELAY } else { 1_000 }))).await;
}

/// Kills a worker so many times, and up to `most` while a phase had none.
async fn kill(kills: u64, most: u64) {
    let seed = super::seed();
    let (start, stack, tally) = (Instant::now(), Stack::connect(), Tally::start().await);
    let (mut world, mut dice) = (World::start(&stack, ARTISTS).await, Dice::at(seed << 32));
    let steps = tally.steps.clone();
    world.proxy.observe(move |target, request, answer| steps.note_call(target, request, answer));
    world.proxy.delay.store(DELAY, Ordering::Relaxed);
    tally.latency.store(LATENCY, Ordering::Relaxed);
    tally.refuses.store(REFUSES, Ordering::Relaxed);
    let subscribers = subscribe(&world, &tally).await;
    let (mut done, mut unanswered) = (0, 0);
    let mut by_phase: BTreeMap<Phase, u64> = Phase::ALL.map(|phase| (phase, 0)).into();
    while done < kills || (done < most && by_phase.values().any(|kills| *kills == 0)) {
        world.tell(EVENTS).await;
        ask(&world, &subscribers).await;
        tally.steps.forget();
        let missing = by_phase.iter().find(|(_, kills)| **kills == 0).map(|(phase, _)| *phase);
        let wanted = missing.filter(|_| done >= kills);
        world.sandbox.kill_when(moment(&tally, &mut dice, wanted), &json!({})).await;
        // What was on its way may still come.
        tokio::time::sleep(Duration::from_millis(50)).await;
        for (phase, kills) in &mut by_phase {
            *kills += u64::from(tally.steps.within(*phase) > 0);
        }
        unanswered += tally.steps.within(Phase::AtReceiver) + tally.steps.within(Phase::Taken);
        done += 1;
        world.forget_leader().await;
    }
    println!("{done} kills, by what at least one webhook was in: {by_phase:?}");
    tally.refuses.store(0, Ordering::Relaxed);
    ask(&world, &subscribers).await;
    world
        .work_until(async {
            for Subscriber { artist, path, .. } in &subscribers {
                let all = world.sequences(*artist);
                while tally.last(path) != all.last().copied() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            while world.queued().await > 0 {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
        .await;
    let (mut messages, mut repeated) = (0, 0);
    for Subscriber { artist, webhook, path } in &subscribers {
        let (mut came, expected) = (tally.came(path), world.sequences(*artist));
        messages += came.len();
        came.dedup();
        repeated += came.len();
        let numbers: Vec<_> = came.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, expected, "{path}: in order, and each with one id");
        let rows = world.all_deliveries(*artist, *webhook).await;
        assert_eq!(rows.len(), expected.len(), "{path}");
        assert!(rows.iter().all(|row| row.status == DeliveryStatus::Delivered), "{path}: all rows say so");
    }
    let (repeated, refused) = (messages as u64 - repeated as u64, tally.refused());
    println!(
        "{messages} messages, {refused} refused, {repeated} repeated right after their first time: {:?}",
        start.elapsed()
    );
    assert!(repeated <= refused + unanswered, "more than {refused} refused and {unanswered} that a kill cut off");
    assert!(by_phase.values().all(|kills| *kills > 0), "a phase without a kill: {by_phase:?}");
}
