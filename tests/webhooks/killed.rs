//! A worker that is killed at any moment loses nothing, and each webhook gets everything in order.

use std::{collections::BTreeMap, env, sync::atomic::Ordering, time::Duration};

use serde_json::json;
use shared::model::{DeliveryStatus, WebhookId};
use tests::{Stack, history::Dice};

use super::{receiver::Tally, sending::until, steps::Phase, world::World};

const ARTISTS: usize = 3;
const EACH: usize = 2;

/// Events for each artist before each kill.
const EVENTS: u64 = 15;

/// Of this many messages, an unsteady receiver refuses one.
const REFUSES: u64 = 12;

/// In each phase, and at any call of the database, twice.
const KILLS: u64 = 2 * (Phase::ALL.len() as u64 + 1);

#[tokio::test]
async fn a_worker_that_is_killed_loses_nothing_and_keeps_the_order() {
    kill(KILLS).await;
}

#[tokio::test]
#[ignore = "takes minutes: KILLS kills, 100 unless given, after SEED"]
async fn a_worker_that_is_killed_a_hundred_times_loses_nothing_and_keeps_the_order() {
    let kills = env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(100);
    kill(kills).await;
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

/// How many times a phase begins at least before any try that was put off is due, or a call of the database is answered.
fn times(phase: Option<Phase>) -> u64 {
    let artists = ARTISTS as u64;
    match phase {
        // Rows for every webhook.
        Some(Phase::FanOutProgress) => EVENTS * artists * EACH as u64,
        // Of those whose receiver is good.
        Some(Phase::BeforePost | Phase::AtReceiver | Phase::Taken) | None => EVENTS * artists,
        // Of the others, or those whose receiver is good.
        Some(Phase::PutOff | Phase::Finish) => artists,
    }
}

/// Kills a worker so many times: in one phase after the other, and at any call of the database, each time after as many
/// steps as the dice say.
async fn kill(kills: u64) {
    let seed = super::seed();
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let (mut world, mut dice) = (World::start(&stack, ARTISTS).await, Dice::at(seed << 32));
    let steps = tally.steps.clone();
    steps.stop_with(&world.proxy.holds);
    world.proxy.observe(move |target, request, answer| steps.note_call(target, request, answer));
    let subscribers = subscribe(&world, &tally).await;
    let mut unanswered = 0;
    let mut by_phase: BTreeMap<Phase, u64> = Phase::ALL.map(|phase| (phase, 0)).into();
    let wanted = Phase::ALL.map(Some).into_iter().chain([None]).cycle();
    for phase in wanted.take(kills as usize) {
        world.tell(EVENTS).await;
        ask(&world, &subscribers).await;
        tally.refuses.store(if phase == Some(Phase::PutOff) { 1 } else { REFUSES }, Ordering::Relaxed);
        let time = 1 + dice.roll(times(phase));
        tally.steps.begin(Some((phase, time)));
        let is_stopped = async || tally.steps.is_stopped() && !world.proxy.is_busy();
        let what = format!("the worker is in {phase:?} for time {time}");
        world.sandbox.kill_when(until(&what, is_stopped), &json!({})).await;
        tally.read_all().await;
        assert!(phase.is_none_or(|phase| tally.steps.within(phase) > 0), "killed too late: {what}");
        for (phase, kills) in &mut by_phase {
            *kills += u64::from(tally.steps.within(*phase) > 0);
        }
        unanswered += tally.steps.within(Phase::AtReceiver) + tally.steps.within(Phase::Taken);
        world.forget_leader().await;
    }
    tally.steps.begin(None);
    println!("{kills} kills, by what at least one webhook was in: {by_phase:?}");
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
    println!("{messages} messages, {refused} refused, {repeated} repeated right after their first time");
    assert!(repeated <= refused + unanswered, "more than {refused} refused and {unanswered} that a kill cut off");
}
