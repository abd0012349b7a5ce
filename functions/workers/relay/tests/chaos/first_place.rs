//! The node that is asked first is bad, in one way after the other, and a good one is behind it: the relays go on, and
//! believe nothing of it.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::{
    Crowd, PATIENCE,
    common::Error,
    faults::Dice,
    given,
    proxy::Vice,
    verdict::{Wish, check, rows},
    world::{Between, World},
};

/// How long the node is bad in one way, and then good.
const BAD: Duration = Duration::from_secs(6);
const GOOD: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_bad_node_each_transaction_is_done_and_told_once() -> Result<(), Error> {
    let (seed, count) = given()?;
    let mut world = World::start(seed, Between::WaywardNode).await?;
    let crowd = Crowd::gather(&world, count).await?;
    world.begin().await?;
    let (wishes, is_over) = (Mutex::default(), AtomicBool::default());
    let rounds = count.div_ceil(250) as u32;
    let lasts = (BAD + GOOD) * rounds * Vice::ALL.len() as u32;

    let (wished, turned, longest) = tokio::join!(
        crowd.wish(&world, seed, lasts, &wishes),
        async {
            let turned = turn(&world, seed, rounds).await;
            is_over.store(true, Relaxed);
            turned
        },
        watch(&world, &wishes, &is_over)
    );
    let ((), (), Standstill { ever, after_faults }) = (wished?, turned?, longest?);
    let wishes = wishes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told = check(&world, crowd.collections, &wishes).await?;
    println!(
        "| {seed} | {} | {} calls disturbed | {} | at most {:.1} s without progress, {:.1} s after a fault | {told} |",
        wishes.len(),
        world.first.disturbed(),
        told.batches,
        ever.as_secs_f64(),
        after_faults.as_secs_f64(),
    );
    assert!(after_faults <= PATIENCE, "nothing ended for {after_faults:?} after a fault");
    Ok(())
}

/// One vice after the other, in an order of the seed's; a relay is killed during every other one.
async fn turn(world: &World, seed: u64, rounds: u32) -> Result<(), Error> {
    let dice = Dice::new(seed, "vices");
    for _ in 0..rounds {
        let mut vices = Vice::ALL.to_vec();
        while !vices.is_empty() {
            let vice = vices.swap_remove(dice.roll(vices.len() as u64) as usize);
            world.first.turn(Some(vice));
            tokio::time::sleep(BAD / 3).await;
            if dice.roll(2) == 0 {
                world.kill(dice.roll(2)).await?;
            }
            tokio::time::sleep(BAD * 2 / 3).await;
            world.first.turn(None);
            tokio::time::sleep(GOOD).await;
        }
    }
    Ok(())
}

/// Longest times in which nothing ended, while something waited.
#[derive(Default)]
struct Standstill {
    ever: Duration,
    /// While the node was good.
    after_faults: Duration,
}

/// Watches until all is done.
async fn watch(world: &World, wishes: &Mutex<Vec<Wish>>, is_over: &AtomicBool) -> Result<Standstill, Error> {
    let (mut ended, mut longest) = (HashSet::new(), Standstill::default());
    let (mut ended_at, mut good_at) = (Instant::now(), Instant::now());
    loop {
        let no_more = is_over.load(Relaxed);
        let open: Vec<_> = {
            let known = wishes.lock().unwrap_or_else(PoisonError::into_inner);
            known.iter().filter(|wish| !ended.contains(&wish.id)).cloned().collect()
        };
        let found = rows(world, &open).await?;
        let before = ended.len();
        ended.extend(found.values().filter(|row| row.status.is_final()).map(|row| row.id));
        longest.ever = longest.ever.max(ended_at.elapsed());
        longest.after_faults = longest.after_faults.max(ended_at.max(good_at).elapsed());
        if ended.len() > before || open.is_empty() {
            ended_at = Instant::now();
        }
        if world.first.is_bad() {
            good_at = Instant::now();
        }
        if no_more && open.is_empty() {
            return Ok(longest);
        }
        if longest.ever > PATIENCE * 6 {
            return Err(format!("{} transactions aren't over", open.len()).into());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
