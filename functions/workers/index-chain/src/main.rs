//! Indexes every configured chain: each minute a run that polls for new blocks every second. A chain without nodes gets
//! artists' changes alone. An operator may invoke the function with `{"chainId", "toBlock"}` to index one chain only,
//! or only up to a block.

use std::time::Duration;

use aws_config::SdkConfig;
use futures::future::join_all;
use index_chain::{ChainOutcome, ChainRun, Deliveries, Followed, Follower};
use lambda_runtime::LambdaEvent;
use serde::{Deserialize, Serialize};
use shared::{
    chain::{
        Chain, Chains,
        node::{Node, NodeUrls},
    },
    clock,
    config::{self, StartError},
    model::ChainId,
    store::{
        artist::{ArtistTable, Artists, Outbox},
        chain::ChainTable,
    },
    telemetry::{self, Metric, trace},
};
use tokio::sync::Mutex;

/// A history is tens of millions of short-lived strings, on which the system's allocator spends a third of the time. In
/// development the crates of others are a dynamic library, whose allocator is the system's: there may be one only.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let (outbox, followers) = (Outbox::new(ArtistTable::from_env(&aws)?), followers(&aws).await?);
    let deliveries = Deliveries::new(outbox, followers.iter().map(Follower::chain_id));
    let (deliveries, followers) = (&deliveries, &Mutex::new(followers));
    trace::run(move |event: LambdaEvent<IndexRequest>| async move {
        index(&mut followers.lock().await, deliveries, &event.payload).await
    })
    .await
}

/// What to index. Without any field: what is new on all chains, once.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct IndexRequest {
    /// All chains by default.
    chain_id: Option<ChainId>,
    /// Last block to index; the newest by default.
    to_block: Option<u64>,
    /// How long new blocks are waited for, in seconds; the schedule's event has a minute less two seconds.
    for_seconds: u64,
}

/// Result for one chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexedRange {
    chain_id: ChainId,
    /// First block that isn't indexed yet.
    next_block: u64,
    events: usize,
    /// Blocks undone because the chain dropped them.
    undone: u64,
    /// Blocks that the best node has and that aren't indexed yet.
    behind: u64,
    /// Seconds until they are, while a history is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_left: Option<u64>,
}

/// Followers of all chains, those without nodes among them.
async fn followers(aws: &SdkConfig) -> Result<Vec<Follower>, StartError> {
    let (table, artists, urls) =
        (ChainTable::from_env(aws)?, Artists::new(ArtistTable::from_env(aws)?), NodeUrls::from_env(aws).await?);
    let chains = Chains::from_env()?;
    let without: Vec<_> = chains.iter().filter(|chain| !urls.names(chain.id)).map(|it| it.id.to_string()).collect();
    if !without.is_empty() {
        tracing::warn!(chain.ids = without.join(", "), "blocks of chains not indexed: RPC_URLS names no node for them");
    }
    let follower = |chain: &Chain| {
        let nodes = if urls.names(chain.id) { Node::paced(&urls, chain.id)? } else { Node::none() };
        Ok(Follower::new(chain.clone(), &nodes, table.clone(), artists.clone()))
    };
    chains.iter().map(follower).collect()
}

/// Indexes chains side by side. A failure on one chain doesn't stop the others; if its last pass failed, it fails the run at
/// its end, so that the alarm sees it.
async fn index(
    followers: &mut [Follower],
    deliveries: &Deliveries,
    request: &IndexRequest,
) -> Result<Vec<IndexedRange>, StartError> {
    // Changes are taken by all chains alike, so by none on its own.
    let deliveries = request.chain_id.is_none().then_some(deliveries);
    let is_meant = |follower: &&mut Follower| request.chain_id.is_none_or(|wanted| follower.chain_id() == wanted);
    let time = Duration::from_secs(request.for_seconds);
    let runs = followers.iter_mut().filter(is_meant);
    let runs = runs.map(|follower| ChainRun::of(follower).run(request.to_block, time, deliveries));
    let (mut ranges, mut failure) = (Vec::new(), None);
    for ChainOutcome { chain, followed, seconds_left } in join_all(runs).await {
        match followed {
            Ok(Some(done)) => {
                measure(chain, &done)?;
                let Followed { next_block, events, undone, behind, .. } = done;
                ranges.push(IndexedRange { chain_id: chain, next_block, events, undone, behind, seconds_left });
            }
            Ok(None) => {}
            Err(error) => failure = Some(error.into()),
        }
    }
    failure.map_or(Ok(ranges), Err)
}

/// Records how far the index lags behind a chain: behind its best node, and behind the clock.
fn measure(chain: ChainId, followed: &Followed) -> Result<(), StartError> {
    let seconds = clock::now()?.as_secs().saturating_sub(followed.reached_time);
    let value = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    telemetry::record(
        &[("Chain", &chain.to_string())],
        &[(Metric::IndexLagBlocks, value(followed.behind)), (Metric::IndexLagSeconds, value(seconds))],
    );
    Ok(())
}
