//! Measures writes per second through one lane and through four, and the AWS calls of a write.
//!
//! The chain makes a block per second. A lane has at most [`MAX_OPEN`] open transactions, which bounds its writes per
//! block on any machine.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use alloy::{
    primitives::{Address, U256},
    providers::ext::AnvilApi,
};
use futures::future::{join_all, try_join_all};
use local::{Error, cloud::Endpoints, recorder::Recorder, workshop::Workshop};
use shared::{
    chain::{
        contracts::native::Creator1155,
        transaction::{Outcome, Policy, TransactionSender, WriteRequest},
        wallet::Call,
    },
    store::{Answer, Artist, MAX_OPEN},
};

const LANES: usize = 4;
const SECONDS_A_BLOCK: u64 = 1;
/// Length of each measurement.
const DURATION: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut workshop = Workshop::start("write-bench").await?;
    workshop.add_lanes(LANES).await?;
    let artists = try_join_all((0..LANES * MAX_OPEN).map(|index| workshop.artist(index % LANES))).await?;
    let collection = workshop.collection(&artists).await?;

    let sender = workshop.sender(&workshop.rpc_url, boundless())?;
    for artist in &artists {
        write(&sender, artist, collection, "ar://deploys-the-account").await?;
    }
    println!(
        "{} AWS calls for a write without contention",
        calls_of_one_write(&workshop, &artists[0], collection).await?
    );

    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    node.anvil_set_interval_mining(SECONDS_A_BLOCK).await?;
    let mut rates = Vec::new();
    for lanes in [1, LANES] {
        let clients = artists.iter().enumerate().filter(|(index, _)| index % LANES < lanes).map(|(_, artist)| artist);
        let rate = writes_a_second(&sender, clients, collection).await;
        println!("{rate:5.1} writes a second through {lanes} lane(s), a block every {SECONDS_A_BLOCK} s");
        rates.push(rate);
    }
    println!("four lanes do {:.1} times the writes of one", rates[1] / rates[0]);
    Ok(())
}

/// Each client sends its next write as soon as the last one is mined.
async fn writes_a_second(
    sender: &TransactionSender,
    clients: impl Iterator<Item = &Artist>,
    collection: Address,
) -> f64 {
    let start = Instant::now();
    let done = join_all(clients.map(async |artist| {
        let mut done = 0_u32;
        while start.elapsed() < DURATION {
            match write(sender, artist, collection, &format!("ar://{done}")).await {
                Ok(()) => done += 1,
                Err(error) => eprintln!("not written: {error}"),
            }
        }
        done
    }));
    let done: u32 = done.await.into_iter().sum();
    f64::from(done) / start.elapsed().as_secs_f64()
}

async fn write(sender: &TransactionSender, artist: &Artist, collection: Address, uri: &str) -> Result<(), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let transactions = sender.transactions();
    let caller = transactions.caller(artist.artist_id, sender.chain().id, Some(artist.lane), None, now).await?;
    let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() };
    let calls = vec![Call::new(collection, &update)];
    let write = WriteRequest { caller: caller.ok_or("no artist")?, calls, replay: None };
    let answer = |outcome: &Outcome| Answer { status: 200, body: format!("{:?}", outcome.end) };
    let answer = sender.write(write, now, PATIENCE, answer).await?;
    if answer.body.starts_with("Mined") { Ok(()) } else { Err(answer.body.into()) }
}

/// Counts the sender's calls; an endpoint makes one more, for the API key.
async fn calls_of_one_write(workshop: &Workshop, artist: &Artist, collection: Address) -> Result<usize, Error> {
    let dynamodb = Recorder::in_front_of(&workshop.endpoints.dynamodb).await?;
    let kms = Recorder::in_front_of(&workshop.endpoints.aws).await?;
    let endpoints = Endpoints { aws: kms.url.clone(), dynamodb: dynamodb.url.clone() };
    let sender = workshop.sender_at(&endpoints, &workshop.rpc_url, boundless()).await?;
    write(&sender, artist, collection, "ar://counted").await?;
    Ok(dynamodb.take().len() + kms.take().len())
}

fn boundless() -> Policy {
    Policy {
        max_gas: 16_777_216,
        max_fee_per_gas: 1_000_000_000_000,
        artist_gas_daily: 1_000_000_000_000,
        total_gas_daily: 1_000_000_000_000_000,
    }
}
