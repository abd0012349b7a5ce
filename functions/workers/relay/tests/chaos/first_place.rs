//! The nodes that are asked first are bad, in one way after the other: the relays go on, if only a good one is behind them
//! or they are good again, and believe nothing of them.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use local::patience::eventually;
use tokio::sync::watch;

use crate::{
    Crowd,
    common::Error,
    faults::Dice,
    given,
    proxy::Vice,
    verdict::{Wish, check, rows},
    world::{Between, World},
};

/// Calls that vices disturb before they end although something waits: nothing is expected of a node that stands still only
/// after half a minute.
const ENOUGH: usize = 60;
/// The same of a lone node: all waits for it.
const ENOUGH_ALONE: usize = 20;
/// The same if each call waits until the relay's patience with it ends, or is a batch that is sent again.
const ENOUGH_SLOW: usize = 6;
/// Blocks that come while a node stands still.
const STANDSTILL: u64 = 120;

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_bad_node_each_transaction_is_done_and_told_once() -> Result<(), Error> {
    survive(Between::OneOfTwo, &Vice::ALL, 1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_two_bad_nodes_each_transaction_is_done_and_told_once() -> Result<(), Error> {
    survive(Between::TwoOfThree, &Vice::ALL, 2).await
}

#[tokio::test(flavor = "multi_thread")]
async fn by_a_lone_node_that_is_bad_for_a_while_each_transaction_is_done_and_told_once() -> Result<(), Error> {
    survive(Between::Alone, Vice::UNPROVED, 4).await
}

/// Relays behind nodes that have these vices in turn, with this part of the run's transactions.
async fn survive(between: Between, vices: &[Vice], part: usize) -> Result<(), Error> {
    let (seed, all) = given()?;
    let (count, bad) = (all.div_ceil(part), between.wayward());
    let mut world = World::start(seed, between).await?;
    let crowd = Crowd::gather(&world, count).await?;
    world.begin().await?;
    let (started, wishes, round) = (Instant::now(), Mutex::default(), watch::Sender::new(0_usize));
    let rounds = vices.len().div_ceil(bad) * count.div_ceil(250);

    // As many in each round.
    let turn = async |number: usize| {
        round.subscribe().wait_for(|begun| *begun > number * rounds / count).await?;
        Ok::<_, Error>(())
    };
    let turns = async {
        let (dice, mut left) = (Dice::new(seed, "vices"), Vec::new());
        for begun in 1..=rounds {
            let mut next = Vec::new();
            while next.len() < bad {
                if left.is_empty() {
                    left.extend_from_slice(vices);
                }
                let at = dice.roll(left.len() as u64) as usize;
                next.push(left.swap_remove(at));
            }
            let enough = match between {
                Between::Alone if matches!(*next, [Vice::Hangs | Vice::Swallows]) => ENOUGH_SLOW,
                Between::Alone => ENOUGH_ALONE,
                _ => ENOUGH,
            };
            world.turn(&next).await?;
            round.send_replace(begun);
            let asked = (begun * count).div_ceil(rounds);
            disturb(&world, &dice, &wishes, asked, (next.as_slice(), enough))
                .await
                .map_err(|error| format!("{next:?}: {error}"))?;
        }
        Ok::<_, Error>(())
    };
    tokio::try_join!(crowd.wish(&world, &wishes, turn), turns)?;
    let mut wishes = wishes.into_inner().unwrap_or_else(PoisonError::into_inner);
    crowd.wish_calmly(&world, &mut wishes).await?;
    let told = check(&world, crowd.collections, &wishes).await?;
    println!(
        "| {seed} | {between:?} | {} | {} calls disturbed | {} | {:.0} s | {told} |",
        wishes.len(),
        world.disturbed(),
        told.batches,
        started.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Waits until the nodes are good again, after they were bad, and all that was asked for is over. A relay is killed in every
/// other round.
async fn disturb(
    world: &World,
    dice: &Dice,
    wishes: &Mutex<Vec<Wish>>,
    asked: usize,
    (vices, enough): (&[Vice], usize),
) -> Result<(), Error> {
    let before = world.disturbed();
    let disturbed = || world.disturbed() - before;
    eventually("a call is disturbed", async || Ok((disturbed() > 0).then_some(()))).await?;
    if vices.contains(&Vice::StandsStill) {
        world.mine(STANDSTILL).await?;
    }
    if dice.roll(2) == 0 {
        world.kill(dice.roll(2)).await?;
    }
    let is_over = async || {
        // A refusal is told only after some more.
        world.mine(1).await?;
        Ok::<_, Error>(are_over(world, wishes, asked).await?.then_some(()))
    };
    let is_enough = async || if disturbed() >= enough { Ok(Some(())) } else { is_over().await };
    eventually("the round is over", is_enough).await?;
    world.turn(&[]).await?;
    eventually("all is over", is_over).await
}

/// Whether that many transactions were asked for, and all are over.
async fn are_over(world: &World, wishes: &Mutex<Vec<Wish>>, asked: usize) -> Result<bool, Error> {
    let known = wishes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let over = rows(world, &known).await?.values().filter(|row| row.status.is_final()).count();
    Ok(known.len() >= asked && over == known.len())
}
