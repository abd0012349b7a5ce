//! The queue of documents to fetch.

use std::{cmp::Reverse, time::Duration};

use futures::{StreamExt, TryStreamExt, stream, stream::FuturesUnordered};
use serde::Serialize;
use shared::{
    clock,
    config::StartError,
    kept_documents::KeptDocuments,
    model::Metadata,
    public_web::DownloadError,
    store::{
        chain::{Documents, DueDocument, QUEUE_SHARDS},
        document::{Library, ReadDocument},
    },
    telemetry::{self, Metric},
};
use tokio::time::Instant;

use crate::{
    FetchError, Fetcher, fetch,
    slots::{Admission, Slots},
};

/// Documents looked at in a shard at a time, besides those that are being fetched.
const PER_SHARD: usize = 16;

/// Time between two polls for new documents.
const POLL: Duration = Duration::from_secs(2);

/// Time after a fetch until the next look: several that end together are one.
const SOON: Duration = Duration::from_millis(20);

/// Seconds of pause after the first failure; each further failure triples it.
const FIRST_PAUSE: u64 = 60;

/// Longest pause, in seconds.
const LONGEST_PAUSE: u64 = 30 * 24 * 60 * 60;

/// Failures after which a document that was read before isn't read again.
const LAST_FAILURE: u32 = 4;

/// Documents that are due, those that are kept here or were read before, and the others' fetcher.
pub struct Queue {
    documents: Documents,
    kept: KeptDocuments,
    library: Library,
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
    pub fn new(documents: Documents, kept: KeptDocuments, library: Library, fetcher: Fetcher) -> Self {
        Self { documents, kept, library, fetcher }
    }

    /// Fetches due documents, and new ones for the time of `wait`; begins none after `time`. Documents fetched before an
    /// error stay fetched.
    pub async fn follow(&self, time: Duration, wait: Duration) -> Result<Fetched, StartError> {
        let (started, mut sum) = (Instant::now(), Fetched::default());
        let (mut slots, mut running) = (Slots::default(), FuturesUnordered::new());
        let (mut look_at, mut found_any, mut newest_first) = (started, true, true);
        let fetch = async |due: DueDocument| (self.fetch(&due).await, due);
        loop {
            let is_over = started.elapsed() >= time;
            if !is_over && slots.is_free() && Instant::now() >= look_at {
                let due = self.due(slots.known(), newest_first).await?;
                (found_any, newest_first) = (!due.is_empty(), !newest_first);
                running.extend(self.admitted(due, &mut slots).await?.into_iter().map(fetch));
                look_at = Instant::now() + POLL;
            }
            let is_waited_for = started.elapsed() < wait || found_any;
            if running.is_empty() && (is_over || !is_waited_for) {
                break;
            }
            tokio::select! {
                Some((fetched, due)) = running.next(), if !running.is_empty() => {
                    let next = slots.release(&due);
                    if !is_over {
                        running.extend(next.into_iter().map(fetch));
                    }
                    if fetched? { sum.fetched += 1 } else { sum.failed += 1 }
                    // There may be more where it was.
                    if !slots.has_waiting() {
                        look_at = look_at.min(Instant::now() + SOON);
                    }
                }
                () = tokio::time::sleep_until(look_at), if !is_over && slots.is_free() => {}
            }
        }
        tracing::info!(fetched = sum.fetched, failed = sum.failed, "metadata documents fetched");
        telemetry::record(&[], &[(Metric::MetadataFailures, i64::try_from(sum.failed).unwrap_or(i64::MAX))]);
        Ok(sum)
    }

    /// Due documents, as many from each shard; those that are known are still there. Looks take the newest and the
    /// oldest in turn, so that neither a new moment's document nor a backlog waits for the other.
    async fn due(&self, known: usize, newest_first: bool) -> Result<Vec<DueDocument>, StartError> {
        let (now, limit, documents) = (clock::now()?.as_secs(), PER_SHARD + known, &self.documents);
        let shards = (0..QUEUE_SHARDS).map(|shard| async move {
            match newest_first {
                true => documents.newest_due(shard, now, limit).await,
                false => documents.due(shard, now, limit).await,
            }
        });
        let mut due = futures::future::try_join_all(shards).await?.concat();
        if newest_first {
            due.sort_by_key(|document| Reverse(document.due_at()));
        } else {
            due.sort_by_key(DueDocument::due_at);
        }
        Ok(due)
    }

    /// Those that have a place. The others wait for one, or are put off where too many wait.
    async fn admitted(&self, due: Vec<DueDocument>, slots: &mut Slots) -> Result<Vec<DueDocument>, StartError> {
        let now = clock::now()?.as_secs();
        let (mut admitted, mut put_off) = (Vec::new(), Vec::new());
        for due in due {
            if !slots.is_free() {
                break;
            }
            match slots.admit(&due, now) {
                Admission::Fetch => admitted.push(due),
                Admission::Later(at) => put_off.push((due, at)),
                Admission::Known => {}
            }
        }
        let calls = stream::iter(&put_off).map(|(due, at)| self.documents.put_off(due, *at));
        calls.buffer_unordered(PER_SHARD).try_collect::<Vec<_>>().await?;
        Ok(admitted)
    }

    /// Fetches one document and stores it, or schedules the next attempt. Returns whether it was fetched.
    async fn fetch(&self, due: &DueDocument) -> Result<bool, StartError> {
        // Before the fetch: what changes during it is read again.
        let begun = clock::now()?.as_secs();
        match self.get(due, begun).await {
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
                    _ if due.since.is_some() && due.failures >= LAST_FAILURE => self.documents.give_up(due).await?,
                    _ => self.documents.retry(due, clock::now()?.as_secs() + pause(due.failures)).await?,
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn get(&self, due: &DueDocument, read_at: u64) -> Result<Metadata, FetchError> {
        if let Some(document) = self.kept.find(&due.uri).await.map_err(Box::new)? {
            return fetch::read(&document);
        }
        if due.uri.starts_with("data:") {
            return self.fetcher.fetch(&due.uri, due.failures).await;
        }
        let hash = Documents::uri_hash(&due.uri);
        let read = self.library.find(&hash).await?;
        if let Some(read) = read.filter(|read| due.since.is_none_or(|since| read.read_at >= since)) {
            return Ok(read.document);
        }
        let read = ReadDocument { document: self.fetcher.fetch(&due.uri, due.failures).await?, read_at };
        self.library.keep(&hash, &read).await?;
        Ok(read.document)
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
