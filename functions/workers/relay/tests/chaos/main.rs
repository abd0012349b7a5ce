//! Real processes of the relay are killed and stopped while nodes lie, lag and forget, KMS and the database fail, and the
//! chain is reorganised: each transaction is done exactly once, or it is told that it wasn't. `SEED=7` repeats a run,
//! `TRANSACTIONS=1000` makes it longer.

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod first_place;
#[path = "../proxy/mod.rs"]
mod proxy;
mod verdict;
mod world;

use std::{
    env,
    sync::{Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use alloy::primitives::Address;
use shared::{model::TransactionId, store::artist::Artist};

use crate::{
    common::{Error, queue, renaming, token_creation},
    faults::Dice,
    verdict::{Wish, all_are_final, check},
    world::{Between, World},
};

const TRANSACTIONS: usize = 150;
/// Transactions of each artist.
const EACH: usize = 6;
/// Longest time in which nothing ends after the last fault, while something waits.
const PATIENCE: Duration = Duration::from_secs(10);
/// The base fee that is dear, in wei; within the cap.
const DEAR: u64 = 2_000_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn under_faults_each_transaction_is_done_once_or_reported_as_not_done() -> Result<(), Error> {
    let (seed, count) = given()?;
    let mut world = World::start(seed, Between::Faults).await?;
    let crowd = Crowd::gather(&world, count).await?;
    world.begin().await?;
    let (started, wishes) = (Instant::now(), Mutex::default());

    let (wished, disasters) = tokio::join!(crowd.wish(&world, seed, lasts(count), &wishes), rage(&world, seed, count));
    let ((), disasters) = (wished?, disasters?);
    let wishes = wishes.into_inner().unwrap_or_else(PoisonError::into_inner);
    world.faults.is_over.store(true, Relaxed);
    // A reorganisation may have dropped a refill.
    for lane in 0..3 {
        world.fund(lane, true).await?;
    }
    let healed = Instant::now();
    let longest = wait(&world, &wishes).await?;
    let took = healed.elapsed();
    let told = check(&world, crowd.collections, &wishes).await?;
    println!(
        "| {seed} | {} | {} | {disasters} | {} | {} | {} | {:.0} s, {:.1} s after the last fault, at most {:.1} s without progress | {told} |",
        wishes.len(),
        if world.is_skewed { "60 s" } else { "none" },
        world.faults.disturbed.load(Relaxed),
        told.batches,
        world.faults.signatures.load(Relaxed),
        started.elapsed().as_secs_f64(),
        took.as_secs_f64(),
        longest.as_secs_f64(),
    );
    assert!(longest <= PATIENCE, "nothing ended for {longest:?}");
    Ok(())
}

/// The run's seed and how many transactions it has.
fn given() -> Result<(u64, usize), Error> {
    let number = |name: &str, default| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    Ok((number("SEED", 1), usize::try_from(number("TRANSACTIONS", TRANSACTIONS as u64))?))
}

/// Artists, and the collections that all but the last of them are admins of: each of the last one's transactions is
/// refused.
struct Crowd {
    people: Vec<Artist>,
    collections: [Address; 2],
    count: usize,
}

impl Crowd {
    async fn gather(world: &World, count: usize) -> Result<Self, Error> {
        let artists = count.div_ceil(EACH);
        let mut people = Vec::new();
        for _ in 0..artists {
            people.push(world.workshop.artist().await?);
        }
        let admins = &people[..artists - 1];
        let collections = [world.workshop.collection(admins).await?, world.workshop.collection(admins).await?];
        Ok(Self { people, collections, count })
    }

    /// Queues transactions while something goes wrong.
    async fn wish(&self, world: &World, seed: u64, lasts: Duration, wishes: &Mutex<Vec<Wish>>) -> Result<(), Error> {
        let (dice, people, [collection, tokens]) = (Dice::new(seed, "wishes"), &self.people, self.collections);
        for number in 0..self.count {
            let index = number % people.len();
            let uri = format!("ar://{index}/{}", number / people.len());
            // Every seventh of an artist's creates a token, whose id is known only when it is signed.
            let is_token = (number / people.len() + index).is_multiple_of(7);
            let wish =
                if is_token { token_creation(&people[index], tokens, &uri)? } else { renaming(collection, &uri) };
            let ids: Vec<TransactionId> = queue(&world.workshop, &people[index], vec![wish]).await?;
            let is_allowed = index + 1 < people.len();
            let queued = ids.into_iter().map(|id| Wish { artist: people[index], id, uri: uri.clone(), is_allowed });
            wishes.lock().unwrap_or_else(PoisonError::into_inner).extend(queued);
            let pause = dice.roll(2 * lasts.as_millis() as u64 / self.count as u64);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        Ok(())
    }
}

/// How long everything goes wrong.
fn lasts(count: usize) -> Duration {
    Duration::from_secs(25 + count as u64 / 10)
}

/// One disaster after the other. Returns how many of which kind there were.
async fn rage(world: &World, seed: u64, count: usize) -> Result<String, Error> {
    let (dice, mut tally) = (Dice::new(seed, "rage"), [0_usize; 8]);
    let end = Instant::now() + lasts(count);
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(200 + dice.roll(1_200))).await;
        let (kind, pick) = (dice.roll(12), dice.roll(60));
        let lasts = Duration::from_millis(1_000 + dice.roll(5_000));
        let faults = &world.faults;
        let outage = match kind {
            0..=3 => {
                world.kill(pick).await?;
                tally[0] += 1;
                continue;
            }
            4 => {
                world.pause(pick, true)?;
                tokio::time::sleep(lasts + Duration::from_secs(3)).await;
                world.pause(pick, false)?;
                tally[1] += 1;
                continue;
            }
            // Every other seed keeps the chain as it is.
            5 | 6 if seed % 2 == 1 => {
                world.reorganise(1 + pick % 8).await?;
                tally[2] += 1;
                continue;
            }
            7 | 8 => {
                world.fund(pick, false).await?;
                tokio::time::sleep(lasts).await;
                world.fund(pick, true).await?;
                tally[3] += 1;
                continue;
            }
            9 => {
                world.set_base_fee(DEAR).await?;
                tally[4] += 1;
                continue;
            }
            10 if pick % 4 == 0 => {
                world.use_key_elsewhere(pick).await?;
                tally[5] += 1;
                continue;
            }
            10 => (&faults.kms_is_down, 6),
            _ if pick % 2 == 0 => (&faults.node_is_down, 7),
            _ => (&faults.store_is_down, 7),
        };
        outage.0.store(true, Relaxed);
        tokio::time::sleep(lasts).await;
        outage.0.store(false, Relaxed);
        tally[outage.1] += 1;
    }
    let names =
        ["kills", "stops", "reorganisations", "empty lanes", "dear blocks", "foreign nonces", "KMS", "node or store"];
    let told: Vec<_> = names.iter().zip(tally).map(|(name, count)| format!("{count} {name}")).collect();
    Ok(told.join(", "))
}

/// Waits until all is done. Returns the longest time without progress.
async fn wait(world: &World, wishes: &[Wish]) -> Result<Duration, Error> {
    let (mut longest, mut since, mut before) = (Duration::ZERO, Instant::now(), None);
    loop {
        let progress = all_are_final(world, wishes).await?;
        if before != Some(progress) {
            (since, before) = (Instant::now(), Some(progress));
        }
        if progress == 0 {
            return Ok(longest);
        }
        longest = longest.max(since.elapsed());
        if longest > PATIENCE * 6 {
            return Err(format!("{progress} transactions and batches aren't over").into());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
