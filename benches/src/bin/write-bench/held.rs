//! How long an established artist waits behind thousands of transactions that can't go now.

use std::time::Duration;

use alloy::{primitives::Address, providers::Provider};
use futures::future::try_join_all;
use local::{
    Error,
    workshop::{Workshop, moment_plan},
};
use relay::{ChainRelay, Times};
use shared::{
    clock,
    model::{Creation, WriteKind},
    store::artist::{Admission, Admitted, Artist, MAX_WAITING, NewTransaction, Pool, PoolLimit},
};
use tokio::time::sleep;

use crate::{LANES, LONE, queue, relay, run};

/// Artists who have as many transactions in the queue as one may.
const CROWD: usize = 40;
/// Transactions of one request.
const SERIES: usize = 20;
/// Where there is no collection. Nodes are asked for a while whether that is so: until then its moments are held.
const NOWHERE: Address = Address::repeat_byte(0x55);
/// Most gas of a moment's creation.
const GAS: u64 = 700_000;

/// Blocks until each of some lone writes is mined.
pub async fn measure_held(workshop: &Workshop, artists: &[Artist], collection: Address) -> Result<(), Error> {
    let (artist, others) = artists.split_last().ok_or("nobody")?;
    let held: usize = try_join_all(others.iter().take(CROWD).map(|member| hold(workshop, member))).await?.iter().sum();
    let times = Times { grace: Duration::from_secs(3_600), ..Times::default() };
    let relay = ChainRelay { times, ..relay(workshop, LANES, &workshop.rpc_url)? };
    let mut blocks = tokio::select! {
        ended = run(&relay) => return Err(ended.err().unwrap_or_else(|| "the relay ended".into())),
        blocks = write(workshop, artist, collection) => blocks?,
    };
    blocks.sort_unstable();
    let worst = blocks.last().copied().unwrap_or_default();
    println!("| an established artist's lone write | p50, in blocks | worst, in blocks |");
    println!("| --- | --- | --- |");
    println!("| behind {held} held transactions | {} | {worst} |", blocks[blocks.len() / 2]);
    Ok(())
}

/// Queues transactions that were to go before all others, and can't. Returns how many.
async fn hold(workshop: &Workshop, artist: &Artist) -> Result<usize, Error> {
    let before = clock::now()? - Duration::from_secs(600);
    let requests = MAX_WAITING as usize / SERIES;
    for _ in 0..requests {
        let moment = NewTransaction {
            plan: moment_plan(artist, NOWHERE, "ar://held")?,
            kind: WriteKind::Plain,
            gas: GAS,
            creation: Creation::Moment,
            reserve: 1_000_000_000_000,
            valid_until: None,
        };
        let admission = Admission {
            pool: PoolLimit { pool: Pool::Newcomers, wei: u64::MAX, assured: 0 },
            ..workshop.admission(artist, vec![moment; SERIES]).await?
        };
        if let Admitted::Refused(refusal) = workshop.transactions().admit(&admission, before).await? {
            return Err(format!("{refusal:?}").into());
        }
    }
    Ok(requests * SERIES)
}

/// Writes one after another. Returns the blocks that each took.
async fn write(workshop: &Workshop, artist: &Artist, collection: Address) -> Result<Vec<u64>, Error> {
    let (node, store) = (workshop.node().await?, workshop.transactions());
    let mut blocks = Vec::new();
    for number in 0..LONE {
        let head = node.get_block_number().await?;
        let (_, id) = queue(workshop, artist, collection, format!("ar://behind/{number}")).await?;
        let mined = loop {
            let row = store.get(artist.artist_id, id).await?.ok_or("a transaction is lost")?;
            match row.mined {
                Some(mined) => break mined,
                None if row.status.is_final() => return Err(format!("a transaction is {}", row.status.word()).into()),
                None => sleep(Duration::from_millis(20)).await,
            }
        };
        blocks.push(mined.block.saturating_sub(head));
    }
    Ok(blocks)
}
