//! Artists write over HTTP while the processes that serve them are killed with SIGKILL at random: each write is done exactly
//! once, or its artist is told that it wasn't. `SEED=7` chooses another plan of kills, `WRITES=600` makes it longer.

mod author;
mod killer;
mod verdict;

use std::{cell::Cell, env};

use futures::{StreamExt, future::join_all, stream};
use tests::Stack;

use crate::{
    author::{Author, Tally},
    killer::{kill_until, struck},
    verdict::{Budgets, check},
};

const AUTHORS: usize = 10;
/// Writes of all authors together.
const WRITES: u64 = 70;
/// One of so many requests at least is hit by a kill.
const PER_STRIKE: u64 = 10;

#[tokio::test]
async fn each_write_is_done_once_or_refused_while_processes_are_killed() {
    let number = |name: &str, default| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, writes) = (number("SEED", 1_u64), number("WRITES", WRITES));
    let stack = Stack::connect();
    let writers: Vec<_> = stream::iter(0..AUTHORS).map(|_| stack.new_writer()).buffered(4).collect().await;
    let (budgets, struck_before) = (Budgets::of(&stack).await, struck(&stack));

    let (tally, done) = (Tally::default(), Cell::new(false));
    // The last one writes to another's collection, which is refused.
    let collection = |index: usize| writers[if index + 1 < AUTHORS { index } else { 0 }].collection;
    let author = |(index, writer)| Author { stack: &stack, writer, collection: collection(index), tally: &tally };
    let authors: Vec<_> = writers.iter().enumerate().map(author).collect();
    let work = async {
        let each = writes.div_ceil(AUTHORS as u64);
        let wishes = authors.iter().enumerate().map(|(index, author)| author.write_all(seed, index, each));
        let wishes = join_all(wishes).await;
        done.set(true);
        wishes
    };
    let (wishes, kills) = tokio::join!(work, kill_until(&stack, seed, &done));

    let struck: Vec<_> = struck(&stack).into_iter().map(|(name, now)| (name, now - struck_before[name])).collect();
    let strikes = struck.iter().map(|(_, count)| *count as u64).sum::<u64>();
    println!("SEED={seed}: {writes} writes, {kills} kills, {strikes} of them in requests: {struck:?}; {tally}");
    check(&stack, &authors, &wishes, &budgets).await;
    assert!(struck.iter().all(|(_, count)| *count > 0), "a function was never killed in a request: {struck:?}");
    assert!(strikes * PER_STRIKE >= writes, "only {strikes} kills fell in requests");
    assert!(tally.replayed.get() > 0, "no write was sent again after it was queued");
}
