//! Follows every configured chain and keeps what the contracts on it say, on a schedule.
//!
//! An operator may invoke the function with `{"chainId", "toBlock"}` to follow one chain alone, or not to its end.

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
    store::{Artists, CommitError, Inbox, Table},
    telemetry::{self, Metric},
};
use tokio::sync::Mutex;

/// Most changes of artists that one run begins to carry.
const MAX_CHANGES: u16 = 100;

/// How long one run reads on, for all chains together: well within the function's time.
const RUN: Duration = Duration::from_secs(240);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let (inbox, followers) = (Inbox::new(Table::artists(&aws)?), Mutex::new(followers(&aws)?));
    let (inbox, followers) = (&inbox, &followers);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<IndexRequest>| async move {
        index(&mut followers.lock().await, inbox, &event.payload).await
    }))
    .await
}

/// What to read: the schedule's own event has none of these fields and means whatever is new on every chain.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct IndexRequest {
    /// The chain to read; all unless given.
    chain_id: Option<ChainId>,
    /// Last block to read; the newest unless given.
    to_block: Option<u64>,
}

/// What was read of one chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexedRange {
    chain_id: ChainId,
    /// First block that isn't read yet.
    next_block: u64,
    /// Events of the contracts in the blocks read.
    events: usize,
    /// Blocks that were undone because the chain dropped them.
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

/// One chain's failure doesn't keep the others from being read, nor does one that is far behind; the run fails at its
/// end, so that the alarm sees it.
async fn index(
    followers: &mut [Follower],
    inbox: &Inbox,
    request: &IndexRequest,
) -> Result<Vec<IndexedRange>, StartError> {
    let mut ranges = Vec::new();
    let (mut failure, mut is_kept) = (None, true);
    // Each chain keeps the changes for itself before they are taken out.
    let is_for_all = request.chain_id.is_none();
    let changes = if is_for_all { inbox.oldest(MAX_CHANGES).await? } else { Vec::new() };
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
                is_kept = false;
                tracing::info!(chain.id = chain_id.0, "another run reads this chain");
            }
            Err(error) => {
                tracing::error!(chain.id = chain_id.0, error = telemetry::chain(&error), "chain not read");
                failure = Some(error.into());
            }
        }
    }
    if is_kept && failure.is_none() {
        for change in &changes {
            inbox.remove(change.id).await?;
        }
    }
    failure.map_or(Ok(ranges), Err)
}

/// Says how far a chain is ahead of what is read of it.
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
