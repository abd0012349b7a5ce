//! Follows one chain. Progress moves only past blocks that are applied, and back where the chain drops blocks.

use std::time::{Duration, Instant};

use shared::{
    chain::{
        Chain,
        node::{Node, NodeError},
    },
    model::ChainId,
    store::{ArtistChanged, Artists, BlockId, CommitError, Journal, StoreError, Table, UnitOfWork, Usage},
};

use crate::{
    apply::Index,
    propagate,
    read::{BlockRange, EventReader, ReadError},
};

/// Why a chain couldn't be indexed further.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The chain kept changing during the read.
    #[error(transparent)]
    Read(ReadError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The changes couldn't be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The chain dropped more blocks than can be undone. Nothing was changed; an operator must decide.
    #[error("the chain dropped block {0}, which is too deep to undo: indexing stops")]
    TooDeep(u64),
}

impl From<ReadError> for IndexError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Node(error) => Self::Node(error),
            changed @ ReadError::Reorganised => Self::Read(changed),
        }
    }
}

/// Most events whose changes are written together; a block is never split.
const MAX_EVENTS: usize = 4_000;

/// Pause before a node with fewer blocks than were indexed is asked again: it lags, or the chain became shorter.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest background work of one run; new blocks are left to the next.
const BACKGROUND_TIME: Duration = Duration::from_secs(20);

/// Most reorganisations during the reads of one run.
const MAX_CHANGES: u32 = 10;

/// Indexes one chain.
pub struct Follower {
    chain: Chain,
    reader: EventReader,
    work: UnitOfWork,
    journal: Journal,
    artists: Artists,
    index: Index,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// First block that isn't indexed yet.
    pub next_block: u64,
    /// Events applied.
    pub events: usize,
    /// Blocks undone.
    pub undone: u64,
    /// Confirmed blocks that aren't indexed yet.
    pub behind: u64,
    /// Unix time of the first of these, in seconds.
    pub behind_since: Option<u64>,
}

impl Followed {
    fn new(next_block: u64) -> Self {
        Self { next_block, ..Self::default() }
    }
}

impl Follower {
    /// A follower that reads from `nodes` and writes to the chain's table.
    pub fn new(chain: Chain, nodes: &Node, table: Table, artists: Artists) -> Self {
        let (work, journal) = (UnitOfWork::new(table.clone()), Journal::new(table.clone(), chain.id));
        let reader = EventReader::new(&chain, nodes);
        let index = Index::new(chain.clone(), table, artists.clone(), reader.factories());
        Self { chain, reader, work, journal, artists, index }
    }

    /// Id of the chain.
    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    /// Requests to nodes and to DynamoDB so far.
    pub fn usage(&self) -> (u64, Usage) {
        (self.reader.calls(), self.work.usage())
    }

    /// Undoes dropped blocks, then indexes confirmed ones up to block `to` and until `deadline`. Afterwards does background
    /// work for a while: fetched documents, relistings, renamed artists. `changes` are stored for later runs once this
    /// returns without an error. Blocks indexed before an error stay indexed.
    pub async fn follow(
        &mut self,
        to: Option<u64>,
        deadline: Option<Instant>,
        changes: &[ArtistChanged],
    ) -> Result<Followed, IndexError> {
        // Boxed: futures nested this deeply exceed the compiler's limits.
        let done = Box::pin(async {
            let followed = self.follow_blocks(to, deadline).await?;
            self.work_in_background(changes, deadline).await?;
            Ok(followed)
        })
        .await;
        if done.is_err() {
            self.index.forget();
        }
        done
    }

    async fn follow_blocks(&mut self, to: Option<u64>, deadline: Option<Instant>) -> Result<Followed, IndexError> {
        self.journal.open(&mut self.work).await?;
        self.index.forget();
        let mut followed = Followed::new(self.next_block());
        let mut changes = 0;
        loop {
            let newest = self.newest_block().await?;
            followed.undone += self.undo_dropped(newest).await?;
            match self.read_to(newest, to, deadline, &mut followed).await {
                Err(IndexError::Read(ReadError::Reorganised)) if changes < MAX_CHANGES => changes += 1,
                Err(error) => return Err(error),
                Ok(()) => {
                    followed.next_block = self.next_block();
                    followed.behind = (newest + 1).saturating_sub(self.chain.confirmations + followed.next_block);
                    if followed.behind > 0 {
                        followed.behind_since = Some(self.reader.block(followed.next_block).await?.time);
                    }
                    return Ok(followed);
                }
            }
        }
    }

    async fn work_in_background(
        &mut self,
        changes: &[ArtistChanged],
        deadline: Option<Instant>,
    ) -> Result<(), IndexError> {
        propagate::enqueue(&mut self.work, self.chain.id, changes)?;
        self.commit_background().await?;
        let end = deadline.map(|deadline| deadline.min(Instant::now() + BACKGROUND_TIME));
        while end.is_none_or(|end| Instant::now() < end) {
            self.index.apply_background(&mut self.work).await?;
            let has_applied = self.commit_background().await?;
            propagate::run(&mut self.work, self.chain.id, &self.artists).await?;
            if !self.commit_background().await? && !has_applied {
                break;
            }
        }
        Ok(())
    }

    /// Commits background changes as part of the last indexed block. Without such a block there is nothing to change.
    /// Returns whether anything was written.
    async fn commit_background(&mut self) -> Result<bool, IndexError> {
        let newest = self.journal.progress().milestones().next();
        match newest.filter(|newest| self.work.is_changed() && newest.number + 1 == self.next_block()) {
            Some(newest) => self.commit(newest, None).await.map(|()| true),
            None => {
                self.work.clear();
                Ok(false)
            }
        }
    }

    /// Indexes confirmed blocks, given the number of the newest.
    async fn read_to(
        &mut self,
        newest: u64,
        to: Option<u64>,
        deadline: Option<Instant>,
        followed: &mut Followed,
    ) -> Result<(), IndexError> {
        let final_block = newest.checked_sub(self.chain.reorg_depth);
        let Some(confirmed) = newest.checked_sub(self.chain.confirmations) else { return Ok(()) };
        let last = to.map_or(confirmed, |to| confirmed.min(to));
        while self.next_block() <= last && deadline.is_none_or(|deadline| Instant::now() < deadline) {
            let (first, before) = (self.next_block(), self.journal.progress().milestones().next());
            let before = before.filter(|block| block.number + 1 == first);
            let known = self.index.collections().await?;
            let range = self.reader.read(first, last, before, final_block, known).await?;
            followed.events += range.events.len();
            self.apply(range, final_block).await?;
        }
        Ok(())
    }

    /// Applies and commits the events of a range in batches.
    async fn apply(&mut self, range: BlockRange, final_block: Option<u64>) -> Result<(), IndexError> {
        let BlockRange { mut events, last } = range;
        while !events.is_empty() {
            let rest = events.split_off(end_of_batch(events.iter().map(|event| event.at.block)));
            let reached = match (events.last(), rest.is_empty()) {
                (Some(event), false) => BlockId { number: event.at.block, hash: event.at.block_hash },
                _ => last,
            };
            self.index.apply(&mut self.work, events).await?;
            self.commit(reached, final_block).await?;
            events = rest;
        }
        if self.next_block() <= last.number { self.commit(last, final_block).await } else { Ok(()) }
    }

    async fn commit(&mut self, last: BlockId, final_block: Option<u64>) -> Result<(), IndexError> {
        let first = self.next_block();
        Ok(self.journal.commit(&mut self.work, first, last, final_block).await?)
    }

    /// Undoes blocks that the chain dropped. Returns their number.
    async fn undo_dropped(&mut self, newest: u64) -> Result<u64, IndexError> {
        let milestones: Vec<BlockId> = self.journal.progress().milestones().collect();
        let Some(top) = milestones.first().copied() else { return Ok(0) };
        for block in &milestones {
            if block.number > newest || self.reader.block_hash(block.number).await? != block.hash {
                continue;
            }
            if *block == top {
                return Ok(0);
            }
            tracing::warn!(chain.id = self.chain.id.0, to = block.number, "undoing dropped blocks");
            self.index.forget();
            self.journal.undo(&mut self.work, block.number + 1).await?;
            return Ok(top.number - block.number);
        }
        let deepest = milestones.last().map_or(top.number, |block| block.number);
        // Until the first block became final, everything can be undone.
        match self.journal.progress().first_undoable() {
            Some(first) if !self.journal.progress().is_anchored() => {
                self.index.forget();
                self.journal.undo(&mut self.work, first).await?;
                Ok(top.number + 1 - first)
            }
            _ => Err(IndexError::TooDeep(deepest)),
        }
    }

    /// Number of the newest block. Waits once for a node that lags behind the indexed blocks.
    async fn newest_block(&mut self) -> Result<u64, NodeError> {
        let known = self.journal.progress().milestones().next().map(|block| block.number);
        let newest = self.reader.newest_block(known).await?;
        if known.is_none_or(|known| newest >= known) {
            return Ok(newest);
        }
        tokio::time::sleep(PATIENCE).await;
        self.reader.newest_block(known).await
    }

    fn next_block(&self) -> u64 {
        self.journal.progress().next_block.unwrap_or(self.chain.first_block)
    }
}

/// Number of events in the next batch, given the block of each: whole blocks with at most [`MAX_EVENTS`] events, or one
/// block with more.
fn end_of_batch(blocks: impl ExactSizeIterator<Item = u64> + Clone) -> usize {
    let count = blocks.len();
    if count <= MAX_EVENTS {
        return count;
    }
    let numbers: Vec<u64> = blocks.collect();
    let cut = numbers[MAX_EVENTS];
    match numbers.partition_point(|&block| block < cut) {
        0 => numbers.partition_point(|&block| block <= cut),
        end => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_end_between_blocks() {
        let cut = |blocks: Vec<u64>| end_of_batch(blocks.into_iter());
        assert_eq!(cut(vec![1, 2, 3]), 3);
        assert_eq!(cut(Vec::new()), 0);
        assert_eq!(cut([vec![1; 3_000], vec![2; 2_000], vec![3; 10]].concat()), 3_000);
        assert_eq!(cut([vec![1; 5_000], vec![2; 10]].concat()), 5_000);
    }
}
