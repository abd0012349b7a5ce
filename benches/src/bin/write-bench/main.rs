//! Measures the relay alone: transactions a second through one lane and through four, signatures and gas of each. Then, if
//! a stack runs (`local bench`), the whole way of a write from the request to its answer.
//!
//! The chain makes a block every two seconds, as Base does. `write-bench [LIMIT…]` names the limits, in calls a second,
//! of providers that the relay is measured behind.

mod held;
mod limits;
mod provider;

use std::{
    env,
    time::{Duration, Instant},
};

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, ext::AnvilApi},
};
use futures::{
    StreamExt,
    future::{join_all, try_join_all},
    stream,
};
use local::{Error, workshop::Workshop};
use relay::{ChainRelay, Report, Times};
use serde_json::json;
use shared::{
    chain::{contracts::native::Creator1155, transaction::Policy, wallet::LaneSigners},
    model::{Call, Creation, Plan, TransactionId, TransactionStatus, WriteKind},
    store::artist::{Artist, NewTransaction},
};
use tests::{Stack, Writer};

use crate::{
    held::measure_held,
    limits::{measure_limits, measure_trips},
};

const SECONDS_A_BLOCK: u64 = 2;
const LANES: usize = 4;
const ARTISTS: usize = 200;
/// Transactions of each artist that are queued at once.
const EACH: usize = 5;
/// Artists that one collection has as admins: more wouldn't fit into the transaction that creates it.
const ADMINS: usize = 40;
/// Most gas of a renaming.
const GAS: u64 = 90_000;
/// Lone writes that are measured, one after another.
const LONE: usize = 10;
/// Artists that write at the same moment.
const AT_ONCE: usize = 50;
/// Calls a second that providers answer.
const LIMITS: [u32; 3] = [25, 100, 400];

#[tokio::main]
async fn main() -> Result<(), Error> {
    let limits = env::args().skip(1).map(|limit| limit.parse()).collect::<Result<Vec<u32>, _>>()?;
    measure_relay(if limits.is_empty() { &LIMITS } else { &limits }).await?;
    if env::var_os("MOMENTS_STACK").is_some() {
        measure_answers(&Stack::connect()).await?;
    }
    Ok(())
}

async fn measure_relay(limits: &[u32]) -> Result<(), Error> {
    let mut workshop = Workshop::start("write-bench").await?;
    workshop.add_lanes(LANES).await?;
    let artists = try_join_all((0..ARTISTS).map(|_| workshop.artist())).await?;
    let collections = try_join_all(artists.chunks(ADMINS).map(|admins| workshop.collection(admins))).await?;
    let all = relay(&workshop, LANES, &workshop.rpc_url)?;
    queue_all(&workshop, &artists, &collections, 1, "deploys").await?;
    let deployed = run(&all).await?;
    println!("{} accounts deployed with their first transaction, in {} batches", deployed.ended, deployed.batches);

    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    node.anvil_set_interval_mining(SECONDS_A_BLOCK).await?;
    println!("| lanes | transactions a second | signatures a transaction | gas a transaction | seconds |");
    println!("| --- | --- | --- | --- | --- |");
    for lanes in [1, LANES] {
        let relay = relay(&workshop, lanes, &workshop.rpc_url)?;
        let ids = queue_all(&workshop, &artists, &collections, EACH, &format!("by-{lanes}")).await?;
        let start = Instant::now();
        let report = run(&relay).await?;
        let seconds = start.elapsed().as_secs_f64();
        let gas = check(&workshop, &ids).await?;
        let count = ids.len() as f64;
        let (rate, signatures) = (count / seconds, report.signatures as f64 / count);
        println!("| {lanes} | {rate:.1} | {signatures:.3} | {:.0} | {seconds:.1} |", gas as f64 / count);
    }
    measure_trips(&workshop, &artists[0], collections[0]).await?;
    measure_limits(&workshop, &artists, &collections, limits).await?;
    measure_held(&workshop, &artists, collections[(ARTISTS - 1) / ADMINS]).await
}

/// Every transaction is mined, exactly once and in its artist's order. Returns the gas of all.
async fn check(workshop: &Workshop, ids: &[(Artist, TransactionId)]) -> Result<u64, Error> {
    let mut gas = 0;
    for (artist, id) in ids {
        let row = workshop.transactions().get(artist.artist_id, *id).await?.ok_or("a transaction is lost")?;
        if row.status != TransactionStatus::Mined {
            return Err(format!("a transaction is {}: {:?}", row.status.word(), row.reason).into());
        }
        gas += row.mined.map_or(0, |mined| mined.gas_used);
    }
    Ok(gas)
}

/// Queues `each` renamings of every artist, in turns.
async fn queue_all(
    workshop: &Workshop,
    artists: &[Artist],
    collections: &[Address],
    each: usize,
    name: &str,
) -> Result<Vec<(Artist, TransactionId)>, Error> {
    let mut ids = Vec::new();
    for number in 0..each {
        let queued = stream::iter(artists.iter().zip(artists.iter().enumerate()))
            .map(|(artist, (index, _))| {
                queue(workshop, artist, collections[index / ADMINS], format!("ar://{name}/{number}"))
            })
            .buffered(16);
        ids.extend(queued.collect::<Vec<_>>().await.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(ids)
}

async fn queue(
    workshop: &Workshop,
    artist: &Artist,
    collection: Address,
    uri: String,
) -> Result<(Artist, TransactionId), Error> {
    let new = NewTransaction {
        plan: Plan::Calls { calls: vec![renaming(collection, uri)] },
        kind: WriteKind::Plain,
        gas: GAS,
        creation: Creation::Nothing,
        reserve: 1_000_000_000_000,
        valid_until: None,
    };
    let queued = workshop.queue(artist, vec![new]).await?;
    Ok((*artist, *queued.first().ok_or("nothing queued")?))
}

fn renaming(collection: Address, uri: String) -> Call {
    Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri })
}

fn policy() -> Policy {
    Policy { max_gas: 16_777_216 }
}

fn relay(workshop: &Workshop, lanes: usize, rpc_url: &str) -> Result<ChainRelay, Error> {
    Ok(ChainRelay {
        chain: workshop.chain.clone(),
        node: workshop.node_at(rpc_url)?,
        signers: LaneSigners::new(workshop.signers.iter().take(lanes).cloned().collect()),
        policy: policy(),
        operator: workshop.operator,
        transactions: workshop.transactions(),
        artists: workshop.artists(),
        payouts: workshop.payouts(),
        provenance: workshop.provenance(),
        holder: "write-bench".to_owned(),
        times: Times::default(),
        window: 4_000,
    })
}

async fn run(relay: &ChainRelay) -> Result<Report, Error> {
    Ok(relay.run(Instant::now() + Duration::from_secs(600)).await?)
}

/// From the request to the answer, through the stack's functions, queue and relay.
async fn measure_answers(stack: &Stack) -> Result<(), Error> {
    let writers: Vec<Writer> = stream::iter(0..AT_ONCE).map(|_| stack.new_writer()).buffered(4).collect().await;
    // Deploys the accounts.
    join_all(writers.iter().map(|writer| rename(stack, writer, "ar://first"))).await;
    stack.chain().anvil_set_auto_mine(false).await?;
    stack.chain().anvil_set_interval_mining(SECONDS_A_BLOCK).await?;
    let block = Duration::from_secs(SECONDS_A_BLOCK);
    let mut lone = Vec::new();
    for number in 0..LONE {
        // Right after a block, so that none comes by chance.
        wait_for_block(stack).await?;
        lone.push(rename(stack, &writers[0], &format!("ar://lone/{number}")).await);
    }
    let at_once = join_all(writers.iter().map(|writer| rename(stack, writer, "ar://at-once"))).await;
    stack.chain().anvil_set_interval_mining(0).await?;
    stack.chain().anvil_set_auto_mine(true).await?;
    println!("| from request to 200, a block every {SECONDS_A_BLOCK} s | p50 | p99 | worst, in blocks |");
    println!("| --- | --- | --- | --- |");
    for (name, mut times) in [("lone write", lone), ("50 artists at once", at_once)] {
        times.sort();
        let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
        let worst = at(100).as_secs_f64() / block.as_secs_f64();
        println!("| {name} | {:.2} s | {:.2} s | {worst:.2} |", at(50).as_secs_f64(), at(99).as_secs_f64());
    }
    Ok(())
}

async fn rename(stack: &Stack, writer: &Writer, uri: &str) -> Duration {
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let body = json!({"moment": moment, "newUri": uri});
    let start = Instant::now();
    stack.write("/registry/metadata/moment", &writer.key, &body, &[]).await.expect_success();
    start.elapsed()
}

async fn wait_for_block(stack: &Stack) -> Result<(), Error> {
    let before = stack.chain().get_block_number().await?;
    while stack.chain().get_block_number().await? == before {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
