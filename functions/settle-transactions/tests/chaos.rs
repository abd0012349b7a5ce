//! Nothing lost, nothing doubled: writes whose nodes lie and fall silent, and whose functions are killed, all end as
//! exactly one transaction each.

mod disturber;

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
        account::Call,
        contracts::Creator1155,
        engine::{CLAIM_LIFETIME, Engine, Outcome, Write, WriteError},
        policy::Policy,
    },
    store::{Answer, Artist, ClaimRefusal, ReplayKey},
};

use self::disturber::{Dice, disturbed};

type Error = Box<dyn std::error::Error + Send + Sync>;

const NOW: u64 = 1_800_000_000;
const LATER: u64 = NOW + CLAIM_LIFETIME.as_secs() + 1;

/// Longer than the engines here wait for a node.
const PAST_THE_TIME_OUT: Duration = Duration::from_millis(2_500);

sol! {
    event URI(string value, uint256 indexed id);
}

/// One write that a client wants done, however often it has to ask.
#[derive(Clone)]
struct Wish {
    artist: Artist,
    collection: Address,
    uri: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Reply {
    /// It is done, will be, or is being done: ask no more for now.
    Accepted,
    /// Nothing was done: ask again.
    Refused,
}

impl Wish {
    /// One request with the wish's idempotency key, as an endpoint would answer it.
    async fn ask(&self, engine: &Engine) -> Result<Reply, Error> {
        let key = ReplayKey::new(self.artist.artist_id, &self.uri);
        let (chain, guess) = (engine.chain().id, engine.signers().likely(self.artist.artist_id).map(Into::into));
        let caller = engine.transactions().caller(self.artist.artist_id, chain, guess, Some(&key), NOW).await?;
        let caller = caller.ok_or("no artist")?;
        if caller.replayed.is_some() {
            return Ok(Reply::Accepted);
        }
        let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: self.uri.clone() };
        let calls = vec![Call::new(self.collection, &update)];
        let write = Write { caller, calls, replay: Some((key, self.uri.clone())) };
        let answer = |outcome: &Outcome| Answer { status: 200, body: outcome.hash.to_string() };
        match engine.write(write, NOW, Duration::from_millis(500), answer).await {
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
async fn every_wish_is_done_exactly_once() -> Result<(), Error> {
    const ARTISTS: usize = 6;
    const WISHES: usize = 8;
    let workshop = Workshop::start("chaos").await?;
    let limits = Policy {
        max_gas: 8_000_000,
        max_fee_per_gas: 1_000_000_000_000,
        artist_gas_daily: 1_000_000_000,
        total_gas_daily: 1_000_000_000_000,
    };
    let healthy = workshop.engine(&workshop.rpc_url, limits.clone())?;
    let disturbed = workshop.engine(&disturbed(&workshop.rpc_url, PAST_THE_TIME_OUT, 10).await?, limits)?;
    let mut artists = Vec::new();
    for index in 0..ARTISTS {
        artists.push(workshop.artist(index % 2).await?);
    }
    let collection = workshop.collection(&artists).await?;
    let wishes: Vec<_> = artists
        .iter()
        .enumerate()
        .flat_map(|(index, &artist)| {
            (0..WISHES).map(move |number| Wish { artist, collection, uri: format!("ar://{index}/{number}") })
        })
        .collect();

    // Clients ask, and functions are killed: one request in four, after a random time.
    let (dice, mut kills) = (Dice::default(), 0);
    let permits = Arc::new(tokio::sync::Semaphore::new(12));
    let mut clients = tokio::task::JoinSet::new();
    for wish in wishes.clone() {
        let (engine, dice, permits) = (disturbed.clone(), dice.clone(), permits.clone());
        clients.spawn(async move {
            let mut kills = 0;
            for _ in 0..6 {
                let permit = permits.acquire().await?;
                let (asked, by) = (wish.clone(), engine.clone());
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
        // The schedule runs on meanwhile. What it can't do now it does the next time.
        let _ = settler.step(NOW).await;
    }
    for _ in 0..3 {
        let _ = settler.step(LATER).await;
    }

    // The node is well again, and clients whose wish led to nothing ask once more.
    let settler = Settler::new(vec![healthy.clone()]);
    let mut rounds = 0;
    loop {
        let open: usize = settler.step(LATER).await?.iter().map(|lane| lane.settled.open).sum();
        let mut missing = 0;
        for wish in &wishes {
            missing += usize::from(wish.ask(&healthy).await? != Reply::Accepted);
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
    println!("{} wishes, {kills} kills, {rounds} rounds until all was settled", wishes.len());
    for wish in &wishes {
        assert_eq!(done.get(&wish.uri), Some(&1), "{}", wish.uri);
    }
    for artist in &artists[..2] {
        let lane = healthy.transactions().lane(healthy.chain().id, artist.lane).await?.ok_or("no lane")?;
        let on_chain = healthy.node().next_nonce(artist.lane.into(), BlockNumberOrTag::Latest).await?;
        assert_eq!((lane.open.len(), lane.next_nonce), (0, on_chain));
    }
    Ok(())
}
