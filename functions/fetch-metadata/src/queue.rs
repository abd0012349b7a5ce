//! Works off the queue of documents.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use shared::{
    clock,
    http::StartError,
    store::{Documents, DueDocument, QUEUE_SHARDS},
    telemetry::{self, Metric},
};
use tokio::time::Instant;

use crate::{FetchError, Fetcher};

/// Documents fetched at a time. Each holds 256 KiB at most.
const AT_ONCE: usize = 32;

/// Documents taken from a shard at a time: few enough that all of them are fetched long before the function must end.
const PER_SHARD: usize = 8;

/// Pause after the first failure; each further one makes it three times as long.
const FIRST_PAUSE: u64 = 60;

/// Longest pause.
const LONGEST_PAUSE: u64 = 30 * 24 * 60 * 60;

/// The documents that are due, and what fetches them.
pub struct Queue {
    documents: Documents,
    fetcher: Fetcher,
}

/// What one run came to.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Documents that came.
    pub fetched: usize,
    /// Documents that will be tried again.
    pub failed: usize,
}

impl Queue {
    /// The queue of these documents.
    pub fn new(documents: Documents, fetcher: Fetcher) -> Self {
        Self { documents, fetcher }
    }

    /// Fetches what is due, for as long as `time`.
    ///
    /// # Errors
    /// When storage fails; what was done before stays done.
    pub async fn work_off(&self, time: Duration) -> Result<Fetched, StartError> {
        let (started, mut sum) = (Instant::now(), Fetched::default());
        while started.elapsed() < time {
            let due = self.due().await?;
            if due.is_empty() {
                break;
            }
            let came: Vec<bool> =
                stream::iter(&due).map(|due| self.fetch(due)).buffer_unordered(AT_ONCE).try_collect().await?;
            sum.fetched += came.iter().filter(|came| **came).count();
            sum.failed += came.iter().filter(|came| !**came).count();
        }
        tracing::info!(fetched = sum.fetched, failed = sum.failed, "metadata fetched");
        telemetry::record(&[], &[(Metric::MetadataFailures, i64::try_from(sum.failed).unwrap_or(i64::MAX))]);
        Ok(sum)
    }

    /// Some of what is due, from every shard alike.
    async fn due(&self) -> Result<Vec<DueDocument>, StartError> {
        let now = clock::now()?.as_secs();
        let shards = (0..QUEUE_SHARDS).map(|shard| self.documents.due(shard, now, PER_SHARD));
        Ok(futures::future::try_join_all(shards).await?.concat())
    }

    /// Fetches one document and keeps it, or says when to try again. Whether it came.
    async fn fetch(&self, due: &DueDocument) -> Result<bool, StartError> {
        match self.fetcher.fetch(&due.uri, due.failures).await {
            Ok(document) => self.documents.keep(due, document, clock::now()?.as_secs()).await?,
            Err(error) => {
                tracing::info!(chain.id = due.chain.0, due.failures, error = telemetry::chain(&error), "no document");
                match error {
                    FetchError::NoWay => self.documents.give_up(due).await?,
                    _ => self.documents.put_off(due, clock::now()?.as_secs() + pause(due.failures)).await?,
                }
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Seconds until a document is tried again that has failed `failures` times before this one.
fn pause(failures: u32) -> u64 {
    FIRST_PAUSE.saturating_mul(3_u64.saturating_pow(failures)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    #[test]
    fn pauses_grow_up_to_a_month() {
        let pauses: Vec<u64> = [0, 1, 2, 9, 10, 50, u32::MAX].into_iter().map(super::pause).collect();
        assert_eq!(pauses, [60, 180, 540, 1_180_980, 2_592_000, 2_592_000, 2_592_000]);
    }
}
