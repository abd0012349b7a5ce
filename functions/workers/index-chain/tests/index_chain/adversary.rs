//! Everything at once: reorganisations, nodes that misbehave in every way, a database that throttles, and processes that
//! die, while artists change their names, wallets and moments. `SEED=<number>` chooses another course, `ROUNDS=<number>` a
//! longer one, `TOKENS` how many an edition mints at once.

use std::sync::atomic::Ordering;

use alloy::providers::Provider;
use shared::model::{Address, DAY, Payment};
use tests::{
    DatabaseProxy, Error, TestChain,
    history::{Dice, History},
};

use crate::support::{Indexer, NodeBehavior, NodeProxy, count_payments, decisions::Decisions, number};

/// What may happen in a round, each of which happens in the first rounds.
const FATES: u64 = 5;
const ROUNDS: u64 = FATES;
/// With it every kind of decision is made in these rounds.
const SEED: u64 = 2;
/// Ways in which a node misbehaves.
const MISBEHAVIORS: u64 = 11;
const NODES: u64 = 3;
/// Deeper than any reorganisation of the test.
const REORG_DEPTH: u64 = 40;
const DEEPEST: u64 = 30;
const TRANSFERS_OF_NOTHING: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_equals_a_fresh_one_whatever_happened() -> Result<(), Error> {
    let (seed, rounds, tokens) = (number("SEED", SEED)?, number("ROUNDS", ROUNDS)?, number("TOKENS", 300)?);
    println!("SEED={seed}");
    let start = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let mut dice = Dice::at(seed << 40);
    let test_chain = TestChain::start(&format!("adversary-{seed}"), REORG_DEPTH).await?;
    let mut history = History::on(&test_chain, 1_000 + seed).await?;
    let (artist, collector) = (history.people[0], history.people[1]);
    let edition = history.edition(artist, collector).await?;
    let (collection, ..) = history.conversation(artist).await?;
    let database = DatabaseProxy::start().await?;
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        nodes.push(NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::Healthy).await?);
    }
    let urls: Vec<&str> = nodes.iter().map(|node| node.url.as_str()).collect();
    let mut indexer = Indexer::through(&test_chain, &urls, Some(&database)).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let accounts: Vec<Address> = history.people.iter().copied().map(Into::into).collect();
    for account in &accounts[..2] {
        let artist = decisions.sign_up(*account).await?;
        decisions.rename(artist, &format!("artist{account}")[..20]).await?;
    }
    // Somebody is ranked.
    for _ in 0..20 {
        history.go_on(20).await?;
        indexer.follow().await?;
        if !indexer.list::<Payment>(&format!("PAYMENTS#{}", test_chain.chain.id)).await?.is_empty() {
            break;
        }
    }
    test_chain.finalise().await?;
    let minted_in = dice.roll(rounds);
    let (mut fates, mut misbehaviors) = (each_once(&mut dice, FATES), each_once(&mut dice, MISBEHAVIORS));
    for round in 0..rounds {
        if round == minted_in {
            history.mint_tier(edition, 0, collector, tokens).await?.ok_or("not minted")?;
        }
        if round % 2 == minted_in % 2 {
            history.transfer_nothing(collection, artist, collector, TRANSFERS_OF_NOTHING).await?;
        }
        history.go_on(10 + usize::try_from(dice.roll(30))?).await?;
        let moments = indexer.moments().await?;
        for _ in 0..dice.roll(4) {
            decisions.decide(&mut dice, &accounts, &moments).await?;
        }
        let head = test_chain.node.get_block_number().await?;
        let healthy = dice.roll(NODES);
        for (index, node) in (0..).zip(&nodes) {
            let behavior = if index == healthy {
                NodeBehavior::Healthy
            } else {
                let number = misbehaviors.next().unwrap_or_else(|| dice.roll(MISBEHAVIORS + 1));
                behavior(number, &mut dice, head)
            };
            node.behave(behavior);
        }
        database.throttled.store([0, 0, 8, 5][usize::try_from(dice.roll(4))?], Ordering::Relaxed);
        let fate = fates.next().unwrap_or_else(|| dice.roll(FATES));
        match fate {
            0 => {
                // The process dies at one of its writes.
                database.left.store(i64::try_from(dice.roll(40))?, Ordering::Relaxed);
                let _ = indexer.follow().await;
                database.left.store(i64::MAX, Ordering::Relaxed);
                indexer.restart().await?;
            }
            1 => {
                indexer.follower.follow(Some(head - dice.roll(10)), None, &[]).await?;
            }
            2 | 3 => {
                indexer.follow().await?;
                let depth = 1 + dice.roll(DEEPEST);
                if fate == 2 {
                    test_chain.reorganise(depth).await?;
                } else {
                    test_chain.roll_back(depth).await?;
                }
                history.forget_dropped().await?;
                decisions.decide(&mut dice, &accounts, &moments).await?;
            }
            _ => test_chain.finalise().await?,
        }
        // The ranker runs beside it, and both die at one of their writes now and then.
        let both_die = dice.roll(3) == 0;
        if both_die {
            database.left.store(i64::try_from(dice.roll(60))?, Ordering::Relaxed);
        }
        indexer.expire_lease("RANKINGS").await?;
        let ranker = indexer.ranker();
        let (followed, ranked) = tokio::join!(indexer.follow(), count_payments(ranker, start + round * DAY));
        println!("round {round}: {followed:?}, ranked: {}", ranked.is_ok());
        database.left.store(i64::MAX, Ordering::Relaxed);
        if both_die {
            indexer.restart().await?;
        }
        indexer.follow().await.ok();
        let ranked = indexer.rank(start + round * DAY).await;
        println!("ranked later: {}", ranked.is_ok());
    }
    database.throttled.store(0, Ordering::Relaxed);
    for node in &nodes {
        node.behave(NodeBehavior::Healthy);
    }
    test_chain.finalise().await?;
    indexer.follow().await?;
    indexer.assert_fresh_rankings(&test_chain, start + rounds * DAY).await
}

/// Each number below a prime number, in an order that the dice choose.
fn each_once(dice: &mut Dice, prime: u64) -> impl Iterator<Item = u64> + use<> {
    let (first, step) = (dice.roll(prime), 1 + dice.roll(prime - 1));
    (0..prime).map(move |turn| (first + turn * step) % prime)
}

/// A number below [`MISBEHAVIORS`] chooses how a node misbehaves; others don't.
fn behavior(number: u64, dice: &mut Dice, head: u64) -> NodeBehavior {
    match number {
        0 => NodeBehavior::FewBlocks(1 + dice.roll(5)),
        1 => NodeBehavior::FewLogs(5 + usize::try_from(dice.roll(40)).unwrap_or_default()),
        2 => NodeBehavior::FewLogsNoReceipts(20),
        3 => NodeBehavior::Failing,
        4 => NodeBehavior::Lagging(1 + dice.roll(8)),
        5 => NodeBehavior::Frozen(head.saturating_sub(dice.roll(10))),
        6 => NodeBehavior::Omitting,
        7 => NodeBehavior::Foreign,
        8 => NodeBehavior::Absurd,
        9 => NodeBehavior::Removed,
        10 => NodeBehavior::Stuck(head),
        _ => NodeBehavior::Healthy,
    }
}
