//! A run: each chain in a loop of its own, so that one's trouble is no other's.

use std::time::{Duration, Instant};

use shared::{
    chain::node::NodeError,
    model::{ArtistChanged, ChainId},
    store::engine::CommitError,
    telemetry,
};

use crate::{
    deliveries::Deliveries,
    error::IndexError,
    follow::{Followed, Follower},
    progress::{HistoryProgress, ProgressReport},
};

/// Longest run, well within the function's timeout.
const RUN: Duration = Duration::from_secs(240);

/// Time between two polls for new blocks.
const POLL: Duration = Duration::from_secs(1);

/// Longest time that a history keeps artists' changes waiting.
const ROUND: Duration = Duration::from_secs(10);

/// A run on one chain.
pub struct ChainRun<'a> {
    follower: &'a mut Follower,
    /// The last pass, with the sums of all.
    done: Option<Followed>,
    failure: Option<IndexError>,
    progress: HistoryProgress,
    /// The newest report on a history.
    report: Option<ProgressReport>,
}

/// What a run did on a chain.
#[derive(Debug)]
pub struct ChainOutcome {
    /// Id of the chain.
    pub chain: ChainId,
    /// `None` if another run is indexing the chain, or it has no nodes.
    pub followed: Result<Option<Followed>, IndexError>,
    /// Seconds until the newest block, while a history is read.
    pub seconds_left: Option<u64>,
}

impl<'a> ChainRun<'a> {
    /// A run with this follower.
    pub fn of(follower: &'a mut Follower) -> Self {
        Self { follower, done: None, failure: None, progress: HistoryProgress::default(), report: None }
    }

    /// Indexes up to block `to`, or up to the newest, again and again for a time; once if that is zero. Without
    /// `deliveries`, artists' changes are left to other runs.
    pub async fn run(mut self, to: Option<u64>, time: Duration, deliveries: Option<&Deliveries>) -> ChainOutcome {
        let (start, chain) = (Instant::now(), self.follower.chain_id());
        let time = time.min(RUN);
        loop {
            let round = Instant::now();
            let left = if time.is_zero() { RUN } else { time.saturating_sub(start.elapsed()).min(ROUND) };
            let changes = pending(deliveries, chain).await;
            let is_stored = self.pass(to, round + left, &changes).await;
            if let Some(deliveries) = deliveries.filter(|_| is_stored)
                && let Err(error) = deliveries.taken(chain, &changes).await
            {
                tracing::error!(chain.id = chain.0, error = telemetry::chain(&error), "outbox messages not deleted");
            }
            if start.elapsed() + POLL >= time {
                break;
            }
            tokio::time::sleep(POLL.saturating_sub(round.elapsed())).await;
        }
        let seconds_left = self.report.and_then(|report| report.seconds_left);
        ChainOutcome { chain, followed: self.finish().await, seconds_left }
    }

    async fn pass(&mut self, to: Option<u64>, deadline: Instant, changes: &[ArtistChanged]) -> bool {
        let outcome = self.follower.pass(to, Some(deadline), changes).await;
        let is_stored = outcome.as_ref().map_or_else(IndexError::keeps_changes, |_| true);
        self.failure = None;
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
            // Its artists' changes are carried out all the same.
            Err(IndexError::Node(NodeError::None(_))) => {}
            Err(IndexError::Commit(CommitError::Overtaken)) => {
                tracing::info!(chain.id = self.follower.chain_id().0, "chain skipped: another run is indexing it");
            }
            Err(error) => {
                let chain = self.follower.chain_id().0;
                tracing::error!(chain.id = chain, error = telemetry::chain(&error), "chain not indexed");
                self.failure = Some(error);
            }
        }
        is_stored
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

/// Artists' changes for a chain; none if they can't be read, which keeps no block waiting.
async fn pending(deliveries: Option<&Deliveries>, chain: ChainId) -> Vec<ArtistChanged> {
    let Some(deliveries) = deliveries else { return Vec::new() };
    deliveries.pending(chain).await.unwrap_or_else(|error| {
        tracing::error!(chain.id = chain.0, error = telemetry::chain(&error), "outbox not read");
        Vec::new()
    })
}
