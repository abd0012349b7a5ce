//! What must hold at the end.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use alloy::{
    eips::BlockNumberOrTag,
    primitives::{Address, U256},
    providers::{Provider, ext::AnvilApi},
};
use shared::{
    model::{EventData, TransactionId, TransactionStatus},
    store::artist::{Artist, ArtistTable, LaneState, ServiceEvents, Transaction},
};

use crate::{
    LONGEST,
    common::{
        Error, done,
        money::{Spent, lanes_wei, spent},
        pools_wei,
    },
    world::{REORG_DEPTH, World},
};

/// A transaction that an artist asked for.
#[derive(Clone)]
pub struct Wish {
    pub artist: Artist,
    pub id: TransactionId,
    pub uri: String,
    pub is_allowed: bool,
    /// Whether it was asked for after the last fault.
    pub is_calm: bool,
}

/// What became of all.
#[derive(Default)]
pub struct Told {
    pub batches: u64,
    spent: Spent,
    done: usize,
    refused: usize,
    not_done: BTreeMap<String, usize>,
}

impl fmt::Display for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} done once, {} refused", self.done, self.refused)?;
        write!(formatter, ", {}", self.spent)?;
        self.not_done.iter().try_for_each(|(reason, count)| write!(formatter, ", {count} not done: {reason}"))
    }
}

pub async fn rows(world: &World, wishes: &[Wish]) -> Result<BTreeMap<TransactionId, Transaction>, Error> {
    let ids: Vec<_> = wishes.iter().map(|wish| (wish.artist.artist_id, wish.id)).collect();
    let rows = world.workshop.transactions().get_many(&ids).await?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

async fn lanes(world: &World) -> Result<Vec<(Address, LaneState)>, Error> {
    let (store, chain) = (world.workshop.transactions(), world.workshop.chain.id);
    let mut lanes = Vec::new();
    for (address, _) in world.workshop.lanes() {
        lanes.push((*address, store.lane(chain, (*address).into()).await?.ok_or("a lane's row is missing")?));
    }
    Ok(lanes)
}

/// Transactions and batches that aren't over.
pub async fn all_are_final(world: &World, wishes: &[Wish]) -> Result<usize, Error> {
    let waiting = rows(world, wishes).await?.values().filter(|row| !row.status.is_final()).count();
    let open: usize = lanes(world).await?.iter().map(|(_, lane)| lane.open.len()).sum();
    Ok(waiting + open)
}

/// Waits until all blocks are final, and checks everything.
pub async fn check(world: &World, collections: [Address; 2], wishes: &[Wish]) -> Result<Told, Error> {
    let start = Instant::now();
    while lanes(world).await?.iter().any(|(_, lane)| !lane.unfinalized.is_empty() || !lane.open.is_empty()) {
        world.node.anvil_mine(Some(REORG_DEPTH), None).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        if start.elapsed() > LONGEST {
            return Err(format!("batches don't become final: {:?}", lanes(world).await?).into());
        }
    }
    let mut faults = Vec::new();
    let told = check_transactions(world, collections, wishes, &mut faults).await?;
    let batches = check_lanes(world, &mut faults).await?;
    check_accounts(world, wishes, &mut faults).await?;
    let told = Told { spent: check_money(world, wishes, &mut faults).await?, ..told };
    check_events(world, wishes, &mut faults).await?;
    check_pools(world, wishes, &mut faults).await?;
    if faults.is_empty() {
        return Ok(Told { batches, ..told });
    }
    println!("{}", faults.join("\n"));
    Err(format!("{} faults", faults.len()).into())
}

async fn check_transactions(
    world: &World,
    collections: [Address; 2],
    wishes: &[Wish],
    faults: &mut Vec<String>,
) -> Result<Told, Error> {
    let (order, counts) = done(&world.workshop, &collections).await?;
    let (rows, mut told) = (rows(world, wishes).await?, Told::default());
    for wish in wishes {
        let Some(row) = rows.get(&wish.id) else {
            faults.push(format!("{} has no row", wish.uri));
            continue;
        };
        let count = counts.get(&wish.uri).copied().unwrap_or_default();
        let is_mined = row.status == TransactionStatus::Mined;
        if count != usize::from(is_mined) || (is_mined && !wish.is_allowed) {
            let Transaction { status, batch, reason, mined, attempts, .. } = row;
            faults.push(format!(
                "{} was done {count} times: {status:?} by {batch:?} in {mined:?} after {attempts} attempts, {reason:?}",
                wish.uri
            ));
        }
        if wish.is_calm && wish.is_allowed && !is_mined {
            faults.push(format!("{} wasn't done although nothing went wrong any more: {:?}", wish.uri, row.reason));
        }
        match row.status {
            TransactionStatus::Mined => told.done += 1,
            TransactionStatus::Reverted if !wish.is_allowed => told.refused += 1,
            _ => *told.not_done.entry(row.reason.clone().unwrap_or_default()).or_default() += 1,
        }
        if let Some(mined) = row.mined {
            let block = world.node.get_block_by_number(BlockNumberOrTag::Number(mined.block)).await?;
            if block.is_none_or(|block| block.header.hash != mined.block_hash) {
                faults.push(format!("{} names a block that isn't the chain's: {mined:?}", wish.uri));
            }
        }
    }
    // Each artist's, in the order in which they asked.
    let artists: BTreeMap<_, Vec<&str>> = wishes.iter().fold(BTreeMap::new(), |mut artists, wish| {
        artists.entry(wish.artist.artist_id.to_string()).or_insert_with(Vec::new).push(&wish.uri);
        artists
    });
    for (artist, asked) in artists {
        let done: Vec<_> = order.iter().map(String::as_str).filter(|uri| asked.contains(uri)).collect();
        let expected: Vec<_> = asked.into_iter().filter(|uri| done.contains(uri)).collect();
        if done != expected {
            faults.push(format!("{artist}: done in another order: {done:?}"));
        }
    }
    Ok(told)
}

async fn check_lanes(world: &World, faults: &mut Vec<String>) -> Result<u64, Error> {
    let mut batches = 0;
    for (address, lane) in lanes(world).await? {
        let on_chain = world.node.get_transaction_count(address).await?;
        batches += lane.next_nonce;
        if lane.next_nonce != on_chain {
            faults.push(format!("lane {address} is at {}, the chain at {on_chain}", lane.next_nonce));
        }
    }
    if !world.workshop.transactions().queued(world.workshop.chain.id, 1).await?.is_empty() {
        faults.push("the queue isn't empty".to_owned());
    }
    Ok(batches)
}

/// What the pools' counters say is what the transactions cost.
async fn check_pools(world: &World, wishes: &[Wish], faults: &mut Vec<String>) -> Result<(), Error> {
    let mut spent: BTreeMap<u64, u64> = BTreeMap::new();
    for row in rows(world, wishes).await?.values() {
        *spent.entry(row.charge.day).or_default() += row.charge.wei;
    }
    let dynamodb = aws_sdk_dynamodb::Client::new(&world.workshop.dynamodb);
    for (day, spent) in spent {
        let counted = pools_wei(&dynamodb, world.workshop.chain.id, day).await?;
        if counted != spent {
            faults.push(format!("the pools of day {day} have {counted} instead of {spent}"));
        }
    }
    Ok(())
}

async fn check_accounts(world: &World, wishes: &[Wish], faults: &mut Vec<String>) -> Result<(), Error> {
    let mut charges: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows(world, wishes).await?.values() {
        charges.entry(row.artist_id).or_default().push(row.charge);
    }
    for (artist, charges) in charges {
        let account = world.workshop.transactions().account(artist, world.workshop.chain.id).await?;
        let account = account.ok_or("an account's row is missing")?;
        // It counts those of one day.
        let spent: u64 = charges.iter().filter(|charge| charge.day == account.day).map(|charge| charge.wei).sum();
        if (account.waiting, account.spent) != (0, spent) {
            faults.push(format!("artist {artist} spent {spent}, but has {account:?}"));
        }
    }
    Ok(())
}

/// Each outcome is told once. Where all nodes lack a block at once that they have shown, or the chain drops it, it may be
/// told before, too.
async fn check_events(world: &World, wishes: &[Wish], faults: &mut Vec<String>) -> Result<(), Error> {
    let log = ServiceEvents::new(ArtistTable::new(&world.workshop.dynamodb, "ArtistTable"));
    let (mut last, mut told) = (0, BTreeMap::<_, Vec<_>>::new());
    loop {
        let events = log.after(last, 100).await?;
        let Some(newest) = events.last() else { break };
        last = newest.number;
        for event in events {
            if let EventData::TransactionMined(it) | EventData::TransactionFailed(it) = event.event.data {
                told.entry(it.id).or_default().push(it.status);
            }
        }
    }
    let rows = rows(world, wishes).await?;
    for wish in wishes {
        let (told, status) = (told.remove(&wish.id).unwrap_or_default(), rows.get(&wish.id).map(|row| row.status));
        if told.last().copied() != status || (world.has_bad_nodes_alone() && told.len() != 1) {
            faults.push(format!("the outcome of {} is {status:?}, and was told as {told:?}", wish.uri));
        }
    }
    Ok(())
}

/// What left lanes is what they spent, and that is what artists were charged, and a known overhead: to the wei.
async fn check_money(world: &World, wishes: &[Wish], faults: &mut Vec<String>) -> Result<Spent, Error> {
    let (workshop, node) = (&world.workshop, &world.node);
    let spent = spent(workshop, node, world.l1_fee()).await?;
    let charged: u128 = rows(world, wishes).await?.values().map(|row| u128::from(row.charge.wei)).sum();
    if charged != spent.charged {
        faults.push(format!("lanes spent {spent}, and artists were charged {charged}"));
    }
    // Elsewhere they are emptied and funded.
    if world.has_bad_nodes_alone() {
        let (before, after) = (world.funds, lanes_wei(workshop, node).await?);
        if before.checked_sub(after) != Some(U256::from(spent.total())) {
            faults.push(format!("lanes had {before} wei and have {after}, and spent {spent}"));
        }
    }
    Ok(spent)
}
