//! Batches: bounded by rows and bytes, made smaller when they fail, and written while the next one is applied.

use std::time::{Duration, Instant};

use futures::future::{OptionFuture, join};
use shared::store::{
    StoreError,
    engine::{BlockId, CommitError, EventPlace, Extent, Journal, Prepared, UnitOfWork},
};
use tokio::sync::mpsc::Receiver;

use crate::{
    apply::{BatchLimit, Index, Queue},
    error::IndexError,
    read::BlockRange,
};

/// Most rows of a batch, and the fewest to which failures bring it.
const MAX_ROWS: usize = 6_000;
const MIN_ROWS: usize = 100;

/// Most bytes of a batch's rows, without their previous images.
const MAX_BYTES: usize = 6 << 20;

/// Longest time until a batch of few events is committed.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Size of the next batch.
pub struct Batches {
    rows: usize,
}

/// Ranges as they are read, and how far they are applied.
pub struct Ranges {
    coming: Receiver<BlockRange>,
    queue: Queue,
    /// A batch of later blocks has one range, so that little is undone with it.
    final_block: Option<u64>,
    /// Place in the first range's first block from which on it is applied.
    within: Option<EventPlace>,
    /// The last range that was taken.
    last: Option<BlockId>,
    /// Its time, and the number of events applied.
    pub reached_time: Option<u64>,
    pub events: usize,
    /// The last block that was read, where nothing is stored for new blocks without changes.
    pub unstored: Option<BlockId>,
}

impl Ranges {
    pub fn new(coming: Receiver<BlockRange>, final_block: Option<u64>, within: Option<EventPlace>) -> Self {
        let (queue, last) = (Queue::default(), None);
        Self { coming, queue, final_block, within, last, reached_time: None, events: 0, unstored: None }
    }

    /// Applies events until the batch reaches its limit, or there is no more range. Returns how far the changes reach; `None` if there is
    /// nothing to commit.
    async fn fill(
        &mut self,
        work: &mut UnitOfWork,
        index: &mut Index,
        limit: BatchLimit,
    ) -> Result<Option<Extent>, IndexError> {
        let begin = Instant::now();
        let mut is_filled = false;
        while !limit.is_reached(work) {
            if self.queue.is_empty() {
                let is_end = is_filled && (self.is_new() || begin.elapsed() >= MAX_TIME);
                if is_end || !self.take().await {
                    break;
                }
            }
            let before = self.queue.done();
            index.apply(work, &mut self.queue, limit).await?;
            self.events += self.queue.done() - before;
            let is_nothing = self.queue.is_empty() && self.is_new() && !work.is_changed();
            self.unstored = self.last.filter(|_| is_nothing);
            is_filled |= !is_nothing;
        }
        let Some(last) = self.last.filter(|_| is_filled) else { return Ok(None) };
        let (last, within) = self.queue.reached().unwrap_or((last, None));
        Ok(Some(Extent { last, within, final_block: self.final_block }))
    }

    /// Takes the next range; `false` if there is none.
    async fn take(&mut self) -> bool {
        let Some(range) = self.coming.recv().await else { return false };
        (self.last, self.reached_time) = (Some(range.last), Some(range.time));
        self.queue = Queue::of(range.events, range.first, self.within.take());
        true
    }

    /// Whether the last range may be dropped by the chain.
    fn is_new(&self) -> bool {
        self.last.is_some_and(|last| self.final_block.is_none_or(|block| last.number > block))
    }
}

impl Default for Batches {
    fn default() -> Self {
        Self { rows: MAX_ROWS }
    }
}

impl Batches {
    /// Makes batches smaller after a failure of storage.
    pub fn failed(&mut self, error: &IndexError) {
        if matches!(
            error,
            IndexError::Store(_)
                | IndexError::Commit(CommitError::Store(StoreError::Call(_) | StoreError::Contention(_)))
                | IndexError::Changes(CommitError::Store(StoreError::Call(_) | StoreError::Contention(_)))
        ) {
            self.rows = (self.rows / 4).max(MIN_ROWS);
        }
    }

    /// Makes batches smaller after a run that died within one: it may have been too large for the memory.
    pub fn crashed(&mut self) {
        self.rows = (MAX_ROWS / 8).max(MIN_ROWS);
    }

    /// The limit of the next batch.
    pub fn limit(&self) -> BatchLimit {
        BatchLimit { rows: self.rows, bytes: MAX_BYTES }
    }

    /// Applies and commits ranges while they come, until `is_over`. A batch is written while the next one is applied.
    pub async fn apply(
        &mut self,
        (journal, work, index): (&mut Journal, &mut UnitOfWork, &mut Index),
        ranges: &mut Ranges,
        is_over: &(impl Fn() -> bool + Sync),
    ) -> Result<(), IndexError> {
        let mut writing: Option<(Prepared, Extent)> = None;
        loop {
            let is_last = writing.is_some() && is_over();
            // A full cache is emptied, which must wait until everything in it is stored.
            let must_wait = is_last || work.is_full();
            let write = writing.take().map(|(prepared, extent)| journal.write(prepared, extent));
            let is_written = write.is_some();
            let filled = if must_wait {
                OptionFuture::from(write).await.transpose()?;
                work.trim();
                journal.settle(work);
                if is_last { None } else { ranges.fill(work, index, self.limit()).await? }
            } else {
                let fill = ranges.fill(work, index, self.limit());
                let (written, filled) = join(OptionFuture::from(write), fill).await;
                written.transpose()?;
                journal.settle(work);
                filled?
            };
            self.grow(is_written);
            let Some(extent) = filled else { return Ok(()) };
            writing = Some((journal.prepare(work).await?, extent));
        }
    }

    fn grow(&mut self, is_written: bool) {
        if is_written {
            self.rows = (self.rows * 2).min(MAX_ROWS);
        }
    }
}
