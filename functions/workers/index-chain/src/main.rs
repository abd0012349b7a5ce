//! Indexes every configured chain, on a schedule. An operator may invoke the function with `{"chainId", "toBlock"}` to
//! index one chain only, or only up to a block.

use std::time::{Duration, Instant};

use aws_config::SdkConfig;
use index_chain::{Followed, Follower, IndexError};
use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};
use shared::{
    chain::{
        Chains,
        node::{Node, NodeUrls},
    },
    clock, config,
    http::StartError,
    model::ChainId,
    store::{Artists, CommitError, Outbox, Table},
    telemetry::{self, Metric},
};
use tokio::sync::Mutex;

/// Most outbox messages that one run takes over.
const MAX_CHANGES: u16 = 100;

/// Longest run over all chains, well within the function's timeout.
const RUN: Duration = Duration::from_secs(240);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let (outbox, followers) = (Outbox::new(Table::artists(&aws)?), Mutex::new(followers(&aws)?));
    let (outbox, followers) = (&outbox, &followers);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<IndexRequest>| async move {
        index(&mut followers.lock().await, outbox, &event.payload).await
    }))
    .await
}

/// What to index. The schedule's event has none of these fields and stands for all new blocks of all chains.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct IndexRequest {
    /// All chains by default.
    chain_id: Option<ChainId>,
    /// Last block to index; the newest by default.
    to_block: Option<u64>,
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
}

fn followers(aws: &SdkConfig) -> Result<Vec<Follower>, StartError> {
    let (table, artists, urls) = (Table::chain(aws)?, Artists::new(Table::artists(aws)?), NodeUrls::from_env()?);
    let follower = |chain: &shared::chain::Chain| {
        let nodes = Node::new(&urls, chain.id)?;
        Ok(Follower::new(chain.clone(), &nodes, table.clone(), artists.clone()))
    };
    Chains::from_env()?.iter().map(follower).collect()
}

/// Indexes chains one after the other, each for its share of the time. A failure on one chain doesn't stop the others,
/// and fails the run at its end, so that the alarm sees it.
async fn index(
    followers: &mut [Follower],
    outbox: &Outbox,
    request: &IndexRequest,
) -> Result<Vec<IndexedRange>, StartError> {
    let mut ranges = Vec::new();
    let (mut failure, mut is_stored) = (None, true);
    // Each chain stores the changes before they are removed from the outbox.
    let is_for_all = request.chain_id.is_none();
    let changes = if is_for_all { outbox.oldest(MAX_CHANGES).await? } else { Vec::new() };
    let is_meant = |follower: &&mut Follower| request.chain_id.is_none_or(|wanted| follower.chain_id() == wanted);
    let meant: Vec<_> = followers.iter_mut().filter(is_meant).collect();
    let (mut left, end) = (u32::try_from(meant.len()).unwrap_or(1), Instant::now() + RUN);
    for follower in meant {
        let chain_id = follower.chain_id();
        let deadline = Instant::now() + end.saturating_duration_since(Instant::now()) / left.max(1);
        left = left.saturating_sub(1);
        match follower.follow(request.to_block, Some(deadline), &changes).await {
            Ok(done) => {
                measure(chain_id, &done)?;
                let (next_block, events, undone) = (done.next_block, done.events, done.undone);
                ranges.push(IndexedRange { chain_id, next_block, events, undone });
            }
            Err(IndexError::Commit(CommitError::Overtaken)) => {
                is_stored = false;
                tracing::info!(chain.id = chain_id.0, "another run is indexing this chain");
            }
            Err(error) => {
                tracing::error!(chain.id = chain_id.0, error = telemetry::chain(&error), "chain not indexed");
                failure = Some(error.into());
            }
        }
    }
    if is_stored && failure.is_none() {
        for change in &changes {
            outbox.remove(change.id).await?;
        }
    }
    failure.map_or(Ok(ranges), Err)
}

/// Records how far the index lags behind a chain.
fn measure(chain: ChainId, followed: &Followed) -> Result<(), StartError> {
    let now = clock::now()?.as_secs();
    let seconds = followed.behind_since.map_or(0, |since| now.saturating_sub(since));
    let value = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    telemetry::record(
        &[("Chain", &chain.to_string())],
        &[(Metric::IndexLagBlocks, value(followed.behind)), (Metric::IndexLagSeconds, value(seconds))],
    );
    Ok(())
}
