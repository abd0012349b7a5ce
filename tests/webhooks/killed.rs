//! A worker that is killed at any moment loses nothing, and each webhook gets everything in order.

use std::{env, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tests::{Stack, history::Dice};

use super::{receiver::Tally, world::World};

const ARTISTS: usize = 3;
const EACH: usize = 2;

/// Milliseconds before each answer of the database, so that a kill is likely to come between two writes.
const DELAY: u64 = 4;

#[tokio::test]
async fn a_worker_that_is_killed_loses_nothing_and_keeps_the_order() {
    kill(4).await;
}

#[tokio::test]
#[ignore = "takes minutes: KILLS kills, 100 unless given, after SEED"]
async fn a_worker_that_is_killed_a_hundred_times_loses_nothing_and_keeps_the_order() {
    kill(env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(100)).await;
}

async fn kill(kills: u64) {
    let seed = env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(super::unix_now);
    println!("SEED={seed}");
    let (stack, tally, mut dice) = (Stack::connect(), Tally::start().await, Dice::at(seed << 32));
    let mut world = World::start(&stack, ARTISTS).await;
    world.proxy.delay.store(DELAY, std::sync::atomic::Ordering::Relaxed);
    let mut webhooks = Vec::new();
    for artist in 0..ARTISTS {
        for place in 0..EACH {
            let path = format!("/{artist}/{place}");
            let webhook = world.webhook(artist, &format!("{}{path}", tally.url)).await;
            webhooks.push((artist, webhook, path));
        }
    }
    let each = if kills < 20 { 15 } else { 60 };
    let (mut within_fan_out, mut within_deliveries) = (0, 0);
    for _ in 0..kills {
        world.tell(each).await;
        world.recorder.take_calls();
        world.sandbox.kill_when(world.called(1 + dice.roll(400)), &json!({})).await;
        let passed = world.fan_out.position("service").await.expect("a row").after;
        let (mut stored, mut waits) = (0, false);
        for (artist, webhook, _) in &webhooks {
            let pending = world.deliveries.pending(world.artist(*artist), *webhook, 10_000).await.expect("rows");
            let numbers = pending.iter().filter_map(|row| row.event.rsplit_once('.')?.1.parse::<u64>().ok());
            stored = stored.max(numbers.max().unwrap_or_default());
            waits |= !pending.is_empty();
        }
        within_fan_out += u64::from(stored > passed);
        within_deliveries += u64::from(waits && stored <= passed);
        // The next one needn't wait until this one counts as dead.
        let call = world.client.update_item().table_name("ArtistTable");
        let call =
            call.key("pk", AttributeValue::S("FANOUT".to_owned())).key("sk", AttributeValue::S("LEASE".to_owned()));
        let call = call.update_expression("SET holder = :nobody").condition_expression("attribute_exists(pk)");
        let _ = call.expression_attribute_values(":nobody", AttributeValue::S(String::new())).send().await;
    }
    println!("{kills} kills: {within_fan_out} while events were passed on, {within_deliveries} while they were sent");
    world
        .work_until(async {
            for (artist, _, path) in &webhooks {
                let all = world.sequences(*artist);
                while tally.last(path) != all.last().copied() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        })
        .await;
    let mut repeated = 0;
    for (artist, _, path) in &webhooks {
        let mut came = tally.came(path);
        let all = came.len();
        came.dedup();
        repeated += all - came.len();
        let numbers: Vec<_> = came.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, world.sequences(*artist), "{path}: in order, and each with one id");
    }
    println!("{repeated} messages came twice, each with the same id and right after its first time");
    assert!(kills < 20 || (within_fan_out > 0 && within_deliveries > 0), "no kill came at a bad moment");
}
