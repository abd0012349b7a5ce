//! Indexes every configured chain: each minute a run that polls for new blocks every second. An operator may invoke the
//! function with `{"chainId", "toBlock"}` to index one chain only, or only up to a block.

use std::time::{Duration, Instant};

use aws_config::SdkConfig;
use futures::future::join_all;
use index_chain::{Followed, Follower, HistoryProgress, IndexError, ProgressReport};
use lambda_runtime::LambdaEvent;
use serde::{Deserialize, Serialize};
use shared::{
    chain::{
        Chains,
        node::{Node, NodeUrls},
    },
    clock,
    config::{self, StartError},
    model::{ArtistChanged, ChainId},
    store::{
        artist::{ArtistTable, Artists, Outbox},
        chain::ChainTable,
        engine::CommitError,
    },
    telemetry::{self, Metric, trace},
};
use tokio::sync::Mutex;

/// A history is tens of millions of short-lived strings, on which the system's allocator spends a third of the time. In
/// development the crates of others are a dynamic library, whose allocator is the system's: there may be one only.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Most outbox messages that one run takes over.
const MAX_CHANGES: u16 = 100;

/// Longest run, well within the function's timeout.
const RUN: Duration = Duration::from_secs(240);

/// Time between two polls for new blocks.
const POLL: Duration = Duration::from_secs(1);

/// Longest time that one chain's history keeps the other chains waiting.
const ROUND: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let (outbox, followers) = (Outbox::new(ArtistTable::from_env(&aws)?), Mutex::new(followers(&aws)?));
    let (outbox, followers) = (&outbox, &followers);
    trace::run(move |event: LambdaEvent<IndexRequest>| async move {
        index(&mut followers.lock().await, outbox, &event.payload).await
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

fn followers(aws: &SdkConfig) -> Result<Vec<Follower>, StartError> {
    let (table, artists, urls) =
        (ChainTable::from_env(aws)?, Artists::new(ArtistTable::from_env(aws)?), NodeUrls::from_env()?);
    let follower = |chain: &shared::chain::Chain| {
        let nodes = Node::new(&urls, chain.id)?;
        Ok(Follower::new(chain.clone(), &nodes, table.clone(), artists.clone()))
    };
    Chains::from_env()?.iter().map(follower).collect()
}

/// Indexes chains side by side, in rounds. A failure on one chain doesn't stop the others; if its last pass failed, it
/// fails the run at its end, so that the alarm sees it.
async fn index(
    followers: &mut [Follower],
    outbox: &Outbox,
    request: &IndexRequest,
) -> Result<Vec<IndexedRange>, StartError> {
    let is_for_all = request.chain_id.is_none();
    let is_meant = |follower: &&mut Follower| request.chain_id.is_none_or(|wanted| follower.chain_id() == wanted);
    let mut chains: Vec<ChainRun> = followers.iter_mut().filter(is_meant).map(ChainRun::of).collect();
    let polls_for = Duration::from_secs(request.for_seconds).min(RUN);
    let (start, is_alone) = (Instant::now(), chains.len() == 1);
    loop {
        let round = Instant::now();
        let time = if polls_for.is_zero() { RUN } else { polls_for.saturating_sub(start.elapsed()) };
        let deadline = round + if is_alone || polls_for.is_zero() { time } else { time.min(ROUND) };
        // Each chain stores the changes before they are removed from the outbox.
        let changes = if is_for_all { outbox.oldest(MAX_CHANGES).await? } else { Vec::new() };
        join_all(chains.iter_mut().map(|chain| chain.pass(request.to_block, deadline, &changes))).await;
        if chains.iter().all(|chain| chain.is_stored) {
            for change in &changes {
                outbox.remove(change.id).await?;
            }
        }
        if start.elapsed() + POLL >= polls_for {
            break;
        }
        tokio::time::sleep(POLL.saturating_sub(round.elapsed())).await;
    }
    let mut ranges = Vec::new();
    let mut failure = None;
    for chain in chains {
        let (id, seconds_left) = (chain.follower.chain_id(), chain.report.and_then(|report| report.seconds_left));
        match chain.finish().await {
            Ok(Some(done)) => {
                measure(id, &done)?;
                let Followed { next_block, events, undone, behind, .. } = done;
                ranges.push(IndexedRange { chain_id: id, next_block, events, undone, behind, seconds_left });
            }
            Ok(None) => {}
            Err(error) => failure = Some(error.into()),
        }
    }
    failure.map_or(Ok(ranges), Err)
}

/// A run on one chain.
struct ChainRun<'a> {
    follower: &'a mut Follower,
    /// The last pass, with the sums of all.
    done: Option<Followed>,
    failure: Option<IndexError>,
    /// Whether the last pass stored its changes.
    is_stored: bool,
    progress: HistoryProgress,
    /// The newest report on a history.
    report: Option<ProgressReport>,
}

impl<'a> ChainRun<'a> {
    fn of(follower: &'a mut Follower) -> Self {
        Self {
            follower,
            done: None,
            failure: None,
            is_stored: true,
            progress: HistoryProgress::default(),
            report: None,
        }
    }

    async fn pass(&mut self, to: Option<u64>, deadline: Instant, changes: &[ArtistChanged]) {
        let outcome = self.follower.pass(to, Some(deadline), changes).await;
        (self.is_stored, self.failure) = (outcome.is_ok(), None);
        match outcome {
            Ok(now) => {
                self.report = self.progress.passed(self.follower.since(), &now);
                if let Some(report) = self.report.filter(|_| self.progress.is_due()) {
                    tracing::info!(
                        chain.id = self.follower.chain_id().0,
                        next_block = now.next_block,
                        behind = now.behind,
                        percent = report.percent,
                        events_per_second = report.events_per_second,
                        blocks_per_second = report.blocks_per_second,
                        seconds_left = report.seconds_left,
                        "reading history of chain"
                    );
                }
                let (events, undone) = self.done.map_or((0, 0), |before| (before.events, before.undone));
                self.done = Some(Followed { events: events + now.events, undone: undone + now.undone, ..now });
            }
            Err(IndexError::Commit(CommitError::Overtaken)) => {
                tracing::info!(chain.id = self.follower.chain_id().0, "chain skipped: another run is indexing it");
            }
            Err(error) => {
                let chain = self.follower.chain_id().0;
                tracing::error!(chain.id = chain, error = telemetry::chain(&error), "chain not indexed");
                self.failure = Some(error);
            }
        }
    }

    async fn finish(self) -> Result<Option<Followed>, IndexError> {
        match self.failure {
            Some(error) => Err(error),
            None => match self.follower.finish().await {
                Ok(()) | Err(IndexError::Commit(CommitError::Overtaken)) => Ok(self.done),
                Err(error) => Err(error),
            },
        }
    }
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
