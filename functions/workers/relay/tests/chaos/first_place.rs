//! The node that is asked first is bad, in one way after the other, and a good one is behind it: the relays go on, and
//! believe nothing of it.

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

/// Calls that a vice disturbs before it ends although something waits: nothing is expected of a node that stands still only
/// after half a minute.
const ENOUGH: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_bad_node_each_transaction_is_done_and_told_once() -> Result<(), Error> {
    let (seed, count) = given()?;
    let mut world = World::start(seed, Between::WaywardNode).await?;
    let crowd = Crowd::gather(&world, count).await?;
    world.begin().await?;
    let (started, wishes, vice) = (Instant::now(), Mutex::default(), watch::Sender::new(0_usize));
    let vices = Vice::ALL.len() * count.div_ceil(250);

    // As many in each vice.
    let turn = async |number: usize| {
        vice.subscribe().wait_for(|begun| *begun > number * vices / count).await?;
        Ok::<_, Error>(())
    };
    let turns = async {
        let (dice, mut left) = (Dice::new(seed, "vices"), Vec::new());
        for begun in 1..=vices {
            if left.is_empty() {
                left.extend(Vice::ALL);
            }
            let next = left.swap_remove(dice.roll(left.len() as u64) as usize);
            world.first.turn(Some(next));
            vice.send_replace(begun);
            disturb(&world, &dice, &wishes, (begun * count).div_ceil(vices)).await?;
        }
        Ok::<_, Error>(())
    };
    let (wished, turned) = tokio::join!(crowd.wish(&world, &wishes, turn), turns);
    wished?;
    turned?;
    let mut wishes = wishes.into_inner().unwrap_or_else(PoisonError::into_inner);
    crowd.wish_calmly(&world, &mut wishes).await?;
    let told = check(&world, crowd.collections, &wishes).await?;
    println!(
        "| {seed} | {} | {} calls disturbed | {} | {:.0} s | {told} |",
        wishes.len(),
        world.first.disturbed(),
        told.batches,
        started.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Waits until the node is good again, after it was bad, and all that was asked for is over. A relay is killed in every
/// other vice.
async fn disturb(world: &World, dice: &Dice, wishes: &Mutex<Vec<Wish>>, asked: usize) -> Result<(), Error> {
    let before = world.first.disturbed();
    let disturbed = || world.first.disturbed() - before;
    eventually("a call is disturbed", async || Ok((disturbed() > 0).then_some(()))).await?;
    if dice.roll(2) == 0 {
        world.kill(dice.roll(2)).await?;
    }
    let is_over = async || Ok::<_, Error>(are_over(world, wishes, asked).await?.then_some(()));
    eventually("the vice is over", async || if disturbed() >= ENOUGH { Ok(Some(())) } else { is_over().await }).await?;
    world.first.turn(None);
    eventually("all is over", is_over).await
}

/// Whether that many transactions were asked for, and all are over.
async fn are_over(world: &World, wishes: &Mutex<Vec<Wish>>, asked: usize) -> Result<bool, Error> {
    let known = wishes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let over = rows(world, &known).await?.values().filter(|row| row.status.is_final()).count();
    Ok(known.len() >= asked && over == known.len())
}
