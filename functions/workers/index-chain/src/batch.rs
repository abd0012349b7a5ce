//! Batches: bounded by rows and bytes, made smaller when they fail, and written while the next one is applied.

use futures::future::{OptionFuture, join};
use shared::store::{BlockId, CommitError, Extent, Journal, Prepared, StoreError, UnitOfWork};

use crate::{
    apply::{Index, Queue, Room},
    follow::IndexError,
};

/// Most rows of a batch, and the fewest to which failures bring it.
const MAX_ROWS: usize = 6_000;
const MIN_ROWS: usize = 100;

/// Most bytes of a batch's rows, without their previous images.
const MAX_BYTES: usize = 6 << 20;

/// Size of the next batch.
pub struct Batches {
    rows: usize,
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
        ) {
            self.rows = (self.rows / 4).max(MIN_ROWS);
        }
    }

    /// Makes batches smaller after a run that died within one: it may have been too large for the memory.
    pub fn crashed(&mut self) {
        self.rows = (MAX_ROWS / 8).max(MIN_ROWS);
    }

    fn room(&self) -> Room {
        Room { rows: self.rows, bytes: MAX_BYTES }
    }

    /// Applies and commits the events of a range up to block `last`, until `is_over`. A batch is written while the next one
    /// is applied.
    pub async fn apply(
        &mut self,
        (journal, work, index): (&mut Journal, &mut UnitOfWork, &mut Index),
        queue: &mut Queue,
        last: BlockId,
        final_block: Option<u64>,
        is_over: &(impl Fn() -> bool + Sync),
    ) -> Result<(), IndexError> {
        let mut writing: Option<(Prepared, Extent)> = None;
        loop {
            let is_last = queue.is_empty() || (writing.is_some() && is_over());
            // A full cache is emptied, which must wait until everything in it is stored.
            let must_wait = is_last || work.is_full();
            let write = writing.take().map(|(prepared, extent)| journal.write(prepared, extent));
            let is_written = write.is_some();
            if must_wait {
                OptionFuture::from(write).await.transpose()?;
                work.trim();
                journal.settle(work);
                self.grow(is_written);
                if is_last {
                    break;
                }
                index.apply(work, queue, self.room()).await?;
            } else {
                let (written, applied) = join(OptionFuture::from(write), index.apply(work, queue, self.room())).await;
                written.transpose()?;
                applied?;
                journal.settle(work);
                self.grow(is_written);
            }
            let (last, within) = queue.reached().unwrap_or((last, None));
            writing = Some((journal.prepare(work).await?, Extent { last, within, final_block }));
        }
        // A range without events, or with none that changes anything.
        if queue.is_empty() && journal.progress().next_block.is_none_or(|next| next <= last.number) {
            journal.commit_to(work, Extent { last, within: None, final_block }).await?;
        }
        Ok(())
    }

    fn grow(&mut self, is_written: bool) {
        if is_written {
            self.rows = (self.rows * 2).min(MAX_ROWS);
        }
    }
}
