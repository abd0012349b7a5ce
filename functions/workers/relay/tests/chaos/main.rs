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
use shared::store::artist::Artist;

use crate::{
    common::{Error, queue, renaming, token_creation},
    faults::Dice,
    verdict::{Wish, all_are_final, check},
    world::{Between, World},
};

const TRANSACTIONS: usize = 80;
/// Transactions of each artist.
const EACH: usize = 6;
/// Longest time until all is over after the last fault.
const LONGEST: Duration = Duration::from_secs(600);
/// How long a process stands still: longer than one that leads may be silent.
const STOP: Duration = Duration::from_secs(6);
/// The base fee that is dear, in wei; within the cap.
const DEAR: u64 = 2_000_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn under_faults_each_transaction_is_done_once_or_reported_as_not_done() -> Result<(), Error> {
    let (seed, count) = given()?;
    let mut world = World::start(seed, Between::Faults).await?;
    let crowd = Crowd::gather(&world, count).await?;
    world.begin().await?;
    let (started, wishes) = (Instant::now(), Mutex::default());

    let end = disturbances(count);
    let pace = async |number: usize| world.faults.reach(end * number / count).await;
    let (wished, disasters) = tokio::join!(crowd.wish(&world, &wishes, pace), rage(&world, seed, end));
    let ((), disasters) = (wished?, disasters?);
    let mut wishes = wishes.into_inner().unwrap_or_else(PoisonError::into_inner);
    world.faults.is_over.store(true, Relaxed);
    // A reorganisation may have dropped a refill.
    for lane in 0..3 {
        world.fund(lane, true).await?;
    }
    let healed = Instant::now();
    let longest = wait(&world, &wishes).await?;
    let took = healed.elapsed();
    crowd.wish_calmly(&world, &mut wishes).await?;
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
    Ok(())
}

/// The run's seed and how many transactions it has.
fn given() -> Result<(u64, usize), Error> {
    let number = |name: &str, default| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, count) = (number("SEED", 1), number("TRANSACTIONS", TRANSACTIONS as u64));
    println!("SEED={seed} TRANSACTIONS={count}");
    Ok((seed, usize::try_from(count)?))
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

    /// Queues transactions while something goes wrong, each when its number's turn has come.
    async fn wish(
        &self,
        world: &World,
        wishes: &Mutex<Vec<Wish>>,
        turn: impl AsyncFn(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for number in 0..self.count {
            turn(number).await?;
            let wish = self.queue(world, number).await?;
            wishes.lock().unwrap_or_else(PoisonError::into_inner).push(wish);
        }
        Ok(())
    }

    /// Queues another one of each artist now that nothing goes wrong any more, and waits until all are over.
    async fn wish_calmly(&self, world: &World, wishes: &mut Vec<Wish>) -> Result<(), Error> {
        for number in self.count..self.count + self.people.len() {
            wishes.push(Wish { is_calm: true, ..self.queue(world, number).await? });
        }
        wait(world, wishes).await.map(drop)
    }

    async fn queue(&self, world: &World, number: usize) -> Result<Wish, Error> {
        let (people, [collection, tokens]) = (&self.people, self.collections);
        let (index, round) = (number % people.len(), number / people.len());
        let (artist, uri) = (people[index], format!("ar://{index}/{round}"));
        // Every seventh of an artist's creates a token, whose id is known only when it is signed.
        let is_token = (round + index).is_multiple_of(7);
        let wish = if is_token { token_creation(&artist, tokens, &uri)? } else { renaming(collection, &uri) };
        let id = *queue(&world.workshop, &artist, vec![wish]).await?.first().ok_or("nothing queued")?;
        Ok(Wish { artist, id, uri, is_allowed: index + 1 < people.len(), is_calm: false })
    }
}

/// How many calls are disturbed before all is good again.
fn disturbances(count: usize) -> usize {
    100 + count
}

/// One disaster after the other until so many calls were disturbed. Returns how many of which kind there were.
async fn rage(world: &World, seed: u64, end: usize) -> Result<String, Error> {
    let (dice, mut tally, faults) = (Dice::new(seed, "rage"), [0_usize; 8], &world.faults);
    while faults.disturbed.load(Relaxed) < end {
        faults.more(1 + dice.roll(8)).await?;
        let (kind, pick, lasts) = (dice.roll(12), dice.roll(60), 3 + dice.roll(15));
        let outage = match kind {
            0..=3 => {
                world.kill(pick).await?;
                tally[0] += 1;
                continue;
            }
            4 => {
                world.pause(pick, true)?;
                tokio::time::sleep(STOP).await;
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
                faults.more(lasts).await?;
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
        faults.more(lasts).await?;
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
    let start = Instant::now();
    let (mut longest, mut since, mut before) = (Duration::ZERO, start, None);
    loop {
        let progress = all_are_final(world, wishes).await?;
        if before != Some(progress) {
            (since, before) = (Instant::now(), Some(progress));
        }
        if progress == 0 {
            return Ok(longest);
        }
        longest = longest.max(since.elapsed());
        if start.elapsed() > LONGEST {
            return Err(format!("{progress} transactions and batches aren't over").into());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
