//! The queue of documents to fetch.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use shared::{
    clock,
    config::StartError,
    kept_documents::KeptDocuments,
    model::Metadata,
    public_web::DownloadError,
    store::chain::{Documents, DueDocument, QUEUE_SHARDS},
    telemetry::{self, Metric},
};
use tokio::time::Instant;

use crate::{FetchError, Fetcher, fetch};

/// Documents fetched concurrently, of at most 256 KiB each.
const AT_ONCE: usize = 32;

/// Documents taken from a shard at a time: few enough that a batch ends long before the function's timeout.
const PER_SHARD: usize = 8;

/// Time between two polls for new documents.
const POLL: Duration = Duration::from_secs(2);

/// Seconds of pause after the first failure; each further failure triples it.
const FIRST_PAUSE: u64 = 60;

/// Longest pause, in seconds.
const LONGEST_PAUSE: u64 = 30 * 24 * 60 * 60;

/// Documents that are due, those that are kept here, and the others' fetcher.
pub struct Queue {
    documents: Documents,
    kept: KeptDocuments,
    fetcher: Fetcher,
}

/// Result of one run.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Documents fetched.
    pub fetched: usize,
    /// Documents not fetched: tried again later, or given up.
    pub failed: usize,
}

impl Queue {
    /// A queue over these documents.
    pub fn new(documents: Documents, kept: KeptDocuments, fetcher: Fetcher) -> Self {
        Self { documents, kept, fetcher }
    }

    /// Fetches due documents, and new ones for the time of `wait`; for at most `time` and one batch. Documents fetched
    /// before an error stay fetched.
    pub async fn follow(&self, time: Duration, wait: Duration) -> Result<Fetched, StartError> {
        let (started, mut sum) = (Instant::now(), Fetched::default());
        loop {
            let due = self.due().await?;
            if due.is_empty() {
                let left = wait.min(time).saturating_sub(started.elapsed());
                if left.is_zero() {
                    break;
                }
                // The last poll is at the end: the next run begins a while later.
                tokio::time::sleep(POLL.min(left)).await;
                continue;
            }
            let fetched: Vec<bool> =
                stream::iter(&due).map(|due| self.fetch(due)).buffer_unordered(AT_ONCE).try_collect().await?;
            sum.fetched += fetched.iter().filter(|fetched| **fetched).count();
            sum.failed += fetched.iter().filter(|fetched| !**fetched).count();
            if started.elapsed() >= time {
                break;
            }
        }
        tracing::info!(fetched = sum.fetched, failed = sum.failed, "metadata documents fetched");
        telemetry::record(&[], &[(Metric::MetadataFailures, i64::try_from(sum.failed).unwrap_or(i64::MAX))]);
        Ok(sum)
    }

    /// A batch of due documents, as many from each shard.
    async fn due(&self) -> Result<Vec<DueDocument>, StartError> {
        let now = clock::now()?.as_secs();
        let shards = (0..QUEUE_SHARDS).map(|shard| self.documents.due(shard, now, PER_SHARD));
        Ok(futures::future::try_join_all(shards).await?.concat())
    }

    /// Fetches one document and stores it, or schedules the next attempt. Returns whether it was fetched.
    async fn fetch(&self, due: &DueDocument) -> Result<bool, StartError> {
        match self.get(due).await {
            Ok(document) => self.documents.keep(due, document, clock::now()?.as_secs()).await?,
            Err(error) => {
                tracing::info!(
                    chain.id = due.chain.0,
                    due.failures,
                    error = telemetry::chain(&error),
                    "metadata document not fetched"
                );
                match error {
                    FetchError::Download(DownloadError::Unfetchable) => self.documents.give_up(due).await?,
                    _ => self.documents.put_off(due, clock::now()?.as_secs() + pause(due.failures)).await?,
                }
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Queue {
    async fn get(&self, due: &DueDocument) -> Result<Metadata, FetchError> {
        match self.kept.find(&due.uri).await.map_err(Box::new)? {
            Some(document) => fetch::read(&document),
            None => self.fetcher.fetch(&due.uri, due.failures).await,
        }
    }
}

/// Seconds until the next attempt after `failures` earlier failures and this one.
fn pause(failures: u32) -> u64 {
    FIRST_PAUSE.saturating_mul(3_u64.saturating_pow(failures)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    #[test]
    fn pause_triples_up_to_a_month() {
        let pauses: Vec<u64> = [0, 1, 2, 9, 10, 50, u32::MAX].into_iter().map(super::pause).collect();
        assert_eq!(pauses, [60, 180, 540, 1_180_980, 2_592_000, 2_592_000, 2_592_000]);
    }
}
