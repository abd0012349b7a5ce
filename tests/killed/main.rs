//! Artists write over HTTP while the processes that serve them are killed with SIGKILL at random: each write is done exactly
//! once, or its artist is told that it wasn't. `SEED=7` chooses another plan of kills, `WRITES=600` makes it longer. They
//! write until enough was hit, however fast the machine is.

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
/// Least writes of all authors together.
const WRITES: u64 = 70;
/// They write at most so many times more until enough was hit.
const LONGEST: u64 = 10;
/// For so many of the least writes, one request is hit by a kill.
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
    let strikes =
        || struck(&stack).into_iter().map(|(name, now)| (name, now - struck_before[name])).collect::<Vec<_>>();
    let is_enough = || {
        let strikes = strikes();
        let all = strikes.iter().map(|(_, count)| *count as u64).sum::<u64>();
        strikes.iter().all(|(_, count)| *count > 0) && all * PER_STRIKE >= writes && tally.replayed.get() > 0
    };
    let work = async {
        let each = writes.div_ceil(AUTHORS as u64);
        let goes_on = |number| number < each || (number < each * LONGEST && !is_enough());
        let wishes = authors.iter().enumerate().map(|(index, author)| author.write_while(seed, index, goes_on));
        let wishes = join_all(wishes).await;
        done.set(true);
        wishes
    };
    let (wishes, kills) = tokio::join!(work, kill_until(&stack, seed, &done));

    let (strikes, written) = (strikes(), wishes.iter().map(Vec::len).sum::<usize>());
    println!("SEED={seed}: {written} writes, {kills} kills, of them in requests: {strikes:?}; {tally}");
    check(&stack, &authors, &wishes, &budgets).await;
    assert!(is_enough(), "too little was hit: {strikes:?} in requests, {tally}");
}
