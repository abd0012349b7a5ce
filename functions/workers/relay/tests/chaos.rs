//! Every write ends as exactly one transaction although nodes lie and time out and functions are killed.

mod faulty_proxy;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use alloy::{
    eips::BlockNumberOrTag,
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::Filter,
    sol,
};
use local::workshop::Workshop;
use settle_transactions::Settler;
use shared::{
    chain::{
        contracts::native::Creator1155,
        transaction::{CLAIM_LIFETIME, Outcome, Policy, TransactionSender, WriteError, WriteRequest},
        wallet::Call,
    },
    store::{Answer, Artist, ClaimRefusal, ReplayKey},
};

use self::faulty_proxy::{Dice, start_faulty_proxy};

type Error = Box<dyn std::error::Error + Send + Sync>;

const NOW: u64 = 1_800_000_000;
const LATER: u64 = NOW + CLAIM_LIFETIME.as_secs() + 1;

/// Longer than the senders here wait for a node.
const OVER_TIMEOUT: Duration = Duration::from_millis(2_500);

sol! {
    event URI(string value, uint256 indexed id);
}

/// One write, which a client requests until it is accepted.
#[derive(Clone)]
struct WriteCase {
    artist: Artist,
    collection: Address,
    uri: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Reply {
    /// Done or in progress: the client stops.
    Accepted,
    /// Nothing was done: the client asks again.
    Refused,
}

impl WriteCase {
    /// One request with the write's idempotency key, answered as by an endpoint.
    async fn ask(&self, sender: &TransactionSender) -> Result<Reply, Error> {
        let key = ReplayKey::new(self.artist.artist_id, &self.uri);
        let (chain, guess) = (sender.chain().id, sender.signers().likely(self.artist.artist_id).map(Into::into));
        let caller = sender.transactions().caller(self.artist.artist_id, chain, guess, Some(&key), NOW).await?;
        let caller = caller.ok_or("no artist")?;
        if caller.replayed.is_some() {
            return Ok(Reply::Accepted);
        }
        let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: self.uri.clone() };
        let calls = vec![Call::new(self.collection, &update)];
        let write = WriteRequest { caller, calls, replay: Some((key, self.uri.clone())) };
        let answer = |outcome: &Outcome| Answer { status: 200, body: outcome.hash.to_string() };
        match sender.write(write, NOW, Duration::from_millis(500), answer).await {
            Ok(_) | Err(WriteError::Claim(ClaimRefusal::KeyInUse)) => Ok(Reply::Accepted),
            Err(WriteError::Claim(ClaimRefusal::LaneFull)) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
                Ok(Reply::Refused)
            }
            Err(_) => Ok(Reply::Refused),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_done_exactly_once() -> Result<(), Error> {
    const ARTISTS: usize = 6;
    const WRITES: usize = 8;
    let workshop = Workshop::start("chaos").await?;
    let limits = Policy {
        max_gas: 8_000_000,
        max_fee_per_gas: 1_000_000_000_000,
        artist_gas_daily: 1_000_000_000,
        total_gas_daily: 1_000_000_000_000,
    };
    let healthy = workshop.sender(&workshop.rpc_url, limits.clone())?;
    let proxy = start_faulty_proxy(&workshop.rpc_url, OVER_TIMEOUT, 10).await?;
    let disturbed = workshop.sender(&proxy, limits)?;
    let mut artists = Vec::new();
    for index in 0..ARTISTS {
        artists.push(workshop.artist(index % 2).await?);
    }
    let collection = workshop.collection(&artists).await?;
    let cases: Vec<_> = artists
        .iter()
        .enumerate()
        .flat_map(|(index, &artist)| {
            (0..WRITES).map(move |number| WriteCase { artist, collection, uri: format!("ar://{index}/{number}") })
        })
        .collect();

    // Clients ask; one request in four is killed after a random time.
    let (dice, mut kills) = (Dice::default(), 0);
    let permits = Arc::new(tokio::sync::Semaphore::new(12));
    let mut clients = tokio::task::JoinSet::new();
    for case in cases.clone() {
        let (sender, dice, permits) = (disturbed.clone(), dice.clone(), permits.clone());
        clients.spawn(async move {
            let mut kills = 0;
            for _ in 0..6 {
                let permit = permits.acquire().await?;
                let (asked, by) = (case.clone(), sender.clone());
                let function = tokio::spawn(async move { asked.ask(&by).await });
                let killer = function.abort_handle();
                if dice.roll(4) == 0 {
                    tokio::time::sleep(Duration::from_millis(20 + dice.roll(400))).await;
                    killer.abort();
                    kills += 1;
                }
                let reply = function.await;
                drop(permit);
                if matches!(reply, Ok(Ok(Reply::Accepted))) {
                    break;
                }
            }
            Ok::<_, Error>(kills)
        });
    }
    let settler = Settler::new(vec![disturbed.clone()]);
    while let Some(client) = tokio::time::timeout(Duration::from_secs(300), clients.join_next()).await? {
        kills += client??;
        // A failed step leaves its work to the next one.
        let _ = settler.step(NOW).await;
    }
    for _ in 0..3 {
        let _ = settler.step(LATER).await;
    }

    // The node is healthy again; clients of refused writes ask once more.
    let settler = Settler::new(vec![healthy.clone()]);
    let mut rounds = 0;
    loop {
        let open: usize = settler.step(LATER).await?.iter().map(|lane| lane.settled.open).sum();
        let mut missing = 0;
        for case in &cases {
            missing += usize::from(case.ask(&healthy).await? != Reply::Accepted);
        }
        rounds += 1;
        if open + missing == 0 {
            break;
        }
        assert!(rounds < 20, "{open} open, {missing} missing");
    }
    settler.step(LATER).await?;

    let node = workshop.node().await?;
    let events = node.get_logs(&Filter::new().address(collection).from_block(0)).await?;
    let mut done = BTreeMap::<String, usize>::new();
    for event in events.iter().filter_map(|log| log.log_decode::<URI>().ok()) {
        if event.inner.data.id == U256::ONE {
            *done.entry(event.inner.data.value.clone()).or_default() += 1;
        }
    }
    println!("{} writes, {kills} kills, {rounds} rounds until all were settled", cases.len());
    for case in &cases {
        assert_eq!(done.get(&case.uri), Some(&1), "{}", case.uri);
    }
    for artist in &artists[..2] {
        let lane = healthy.transactions().lane(healthy.chain().id, artist.lane).await?.ok_or("no lane")?;
        let on_chain = healthy.node().next_nonce(artist.lane.into(), BlockNumberOrTag::Latest).await?;
        assert_eq!((lane.open.len(), lane.next_nonce), (0, on_chain));
    }
    Ok(())
}
