//! What writes ask of a node, and what its limit leaves of the relay's rate.

use std::time::{Duration, Instant};

use alloy::{
    primitives::{Address, U256, bytes},
    providers::ext::AnvilApi,
};
use local::{
    Error,
    workshop::{Workshop, moment_plan},
};
use relay::ChainRelay;
use shared::{
    chain::{protocol::permission::Permissions, transaction::Planner},
    model::{MomentRef, Plan},
    store::artist::Artist,
};
use tokio::time::sleep;

use crate::{EACH, LANES, check, policy, provider::Provider, queue_all, relay, renaming, run};

/// How long the relay may fail again and again.
const PATIENCE: Duration = Duration::from_secs(600);

/// Round trips and calls of a write before it is queued, once its caller is known.
pub async fn measure_trips(workshop: &Workshop, artist: &Artist, collection: Address) -> Result<(), Error> {
    // Answers 1. Without it, it would be asked in a second way, too.
    if let Some(oracle) = workshop.chain.spending.l1_fee_oracle {
        workshop.node().await?.anvil_set_code(oracle, bytes!("600160005260206000f3")).await?;
    }
    let provider = Provider::start(&workshop.rpc_url, None).await?;
    let planner = Planner::new(workshop.chain.clone(), workshop.node_at(&provider.url)?, workshop.operator, policy());
    let caller = workshop.transactions().caller(artist.artist_id, workshop.chain.id, None).await?.ok_or("nobody")?;
    let place = MomentRef { chain: workshop.chain.id, collection: collection.into(), token: U256::ONE.into() };
    let change = Plan::Calls { calls: vec![renaming(collection, "ar://planned".to_owned())] };
    println!("| write | round trips | calls | ms | calls by method |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, plan) in [("metadata", change), ("moment", moment_plan(artist, collection, "ar://planned")?)] {
        provider.take();
        let start = Instant::now();
        Permissions::of(planner.node(), artist.embedded_wallet.into(), &place).await?;
        planner.plan(&caller, plan, None).await?;
        let (time, tally) = (start.elapsed().as_millis(), provider.take());
        println!("| {name} | {} | {} | {time} | {} |", tally.trips, tally.count(), tally.methods());
    }
    Ok(())
}

/// The relay's rate behind a provider with each of these limits, and without one.
pub async fn measure_limits(
    workshop: &Workshop,
    artists: &[Artist],
    collections: &[Address],
    limits: &[u32],
) -> Result<(), Error> {
    println!("| calls a second | transactions a second | calls a transaction | refused | failures | calls by method |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for limit in limits.iter().copied().map(Some).chain([None]) {
        let provider = Provider::start(&workshop.rpc_url, limit).await?;
        let relay = relay(workshop, LANES, &provider.url)?;
        let name = limit.map_or_else(|| "any".to_owned(), |limit| limit.to_string());
        let ids = queue_all(workshop, artists, collections, EACH, &format!("limit-{name}")).await?;
        provider.take();
        let start = Instant::now();
        let failures = finish(&relay).await?;
        let (seconds, tally, count) = (start.elapsed().as_secs_f64(), provider.take(), ids.len() as f64);
        check(workshop, &ids).await?;
        let (rate, calls) = (count / seconds, tally.count() as f64 / count);
        println!("| {name} | {rate:.1} | {calls:.2} | {} | {failures} | {} |", tally.refused, tally.methods());
    }
    Ok(())
}

/// Relays until nothing is left to do, anew after each failure. Returns how many there were.
async fn finish(relay: &ChainRelay) -> Result<usize, Error> {
    let (start, mut failures) = (Instant::now(), 0);
    while let Err(error) = run(relay).await {
        if start.elapsed() > PATIENCE {
            return Err(error);
        }
        failures += 1;
        sleep(Duration::from_secs(1)).await;
    }
    Ok(failures)
}
