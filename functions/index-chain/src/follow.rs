//! Follows one chain from where it was read to. What is known moves only past blocks that are read and applied, and
//! goes back where the chain drops blocks.

use std::time::{Duration, Instant};

use shared::{
    chain::{
        Chain,
        node::{Node, NodeError},
    },
    model::ChainId,
    store::{ArtistChanged, Artists, BlockId, CommitError, Journal, StoreError, Table, Unit, Usage},
};

use crate::{
    apply::Index,
    carry,
    read::{BlockRange, EventReader, ReadError},
};

/// Why a chain couldn't be read further.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The chain kept changing as it was read.
    #[error(transparent)]
    Read(ReadError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was read couldn't be kept.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The chain dropped more blocks than can be undone. Nothing was changed; an operator must decide.
    #[error("the chain has dropped block {0}, deeper than can be undone: the index stands still")]
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

/// Most events whose changes are written together, but for those of one block.
const MAX_EVENTS: usize = 4_000;

/// How long a node that has fewer blocks than were read may take to get them: it lags behind, or the chain became
/// shorter.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long one run works on what no block waits for; new blocks are read by the next.
const BESIDE_BLOCKS: Duration = Duration::from_secs(20);

/// How often in one run the chain may change as it is read.
const MAX_CHANGES: u32 = 10;

/// One chain and how far it is read.
pub struct Follower {
    chain: Chain,
    reader: EventReader,
    unit: Unit,
    journal: Journal,
    artists: Artists,
    index: Index,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// First block that isn't read yet.
    pub next_block: u64,
    /// Events in the blocks read.
    pub events: usize,
    /// Blocks that were undone.
    pub undone: u64,
    /// Confirmed blocks that aren't read.
    pub behind: u64,
    /// When the first of these was mined: Unix time in seconds.
    pub behind_since: Option<u64>,
}

impl Followed {
    fn new(next_block: u64) -> Self {
        Self { next_block, ..Self::default() }
    }
}

impl Follower {
    /// A follower of this chain through its nodes, which writes to the chain's table.
    pub fn new(chain: Chain, nodes: &Node, table: Table, artists: Artists) -> Self {
        let (unit, journal) = (Unit::new(table.clone()), Journal::new(table.clone(), chain.id));
        let reader = EventReader::new(&chain, nodes);
        let index = Index::new(chain.clone(), table, artists.clone(), reader.factories());
        Self { chain, reader, unit, journal, artists, index }
    }

    /// The chain that is followed.
    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    /// How often nodes and DynamoDB were asked so far.
    pub fn usage(&self) -> (u64, Usage) {
        (self.reader.calls(), self.unit.usage())
    }

    /// Reads whatever is confirmed and not read yet, at most to block `to` and until `deadline`, after undoing what the
    /// chain dropped. Then, for a while, does what is left besides: what others found out, what concerns many rows, and changes
    /// of artists, those from before and `changes`, which are kept for later runs as soon as this returns without an error.
    ///
    /// # Errors
    /// When nodes or storage fail; what was read before stays read.
    pub async fn follow(
        &mut self,
        to: Option<u64>,
        deadline: Option<Instant>,
        changes: &[ArtistChanged],
    ) -> Result<Followed, IndexError> {
        // Boxed: a future of this depth is too much for the compiler to lay out.
        let done = Box::pin(async {
            let followed = self.follow_from_where_it_was(to, deadline).await?;
            self.work_beside_blocks(changes, deadline).await?;
            Ok(followed)
        })
        .await;
        if done.is_err() {
            self.index.forget();
        }
        done
    }

    async fn follow_from_where_it_was(
        &mut self,
        to: Option<u64>,
        deadline: Option<Instant>,
    ) -> Result<Followed, IndexError> {
        self.journal.open(&mut self.unit).await?;
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

    async fn work_beside_blocks(
        &mut self,
        changes: &[ArtistChanged],
        deadline: Option<Instant>,
    ) -> Result<(), IndexError> {
        carry::keep(&mut self.unit, self.chain.id, changes)?;
        self.commit_beside_blocks().await?;
        let end = deadline.map(|deadline| deadline.min(Instant::now() + BESIDE_BLOCKS));
        while end.is_none_or(|end| Instant::now() < end) {
            self.index.apply_left(&mut self.unit).await?;
            let has_applied = self.commit_beside_blocks().await?;
            carry::carry_on(&mut self.unit, self.chain.id, &self.artists).await?;
            if !self.commit_beside_blocks().await? && !has_applied {
                break;
            }
        }
        Ok(())
    }

    /// Writes what was changed though no block did it, as if it belonged to the last block that was read. Before the first
    /// block is read there is nothing to change. Whether anything was written.
    async fn commit_beside_blocks(&mut self) -> Result<bool, IndexError> {
        let newest = self.journal.progress().milestones().next();
        match newest.filter(|newest| self.unit.is_changed() && newest.number + 1 == self.next_block()) {
            Some(newest) => self.commit(newest, None).await.map(|()| true),
            None => {
                self.unit.clear();
                Ok(false)
            }
        }
    }

    /// Reads what is confirmed where `newest` is the newest block.
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

    /// Applies the events of a range and writes what they change, so many at a time.
    async fn apply(&mut self, range: BlockRange, final_block: Option<u64>) -> Result<(), IndexError> {
        let BlockRange { mut events, last } = range;
        while !events.is_empty() {
            let rest = events.split_off(end_of_batch(events.iter().map(|event| event.at.block)));
            let reached = match (events.last(), rest.is_empty()) {
                (Some(event), false) => BlockId { number: event.at.block, hash: event.at.block_hash },
                _ => last,
            };
            self.index.apply(&mut self.unit, events).await?;
            self.commit(reached, final_block).await?;
            events = rest;
        }
        if self.next_block() <= last.number { self.commit(last, final_block).await } else { Ok(()) }
    }

    async fn commit(&mut self, last: BlockId, final_block: Option<u64>) -> Result<(), IndexError> {
        let first = self.next_block();
        Ok(self.journal.commit(&mut self.unit, first, last, final_block).await?)
    }

    /// Undoes what was read of blocks that the chain doesn't have any more. Gives how many blocks.
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
            tracing::warn!(chain.id = self.chain.id.0, to = block.number, "undoing blocks that the chain dropped");
            self.index.forget();
            self.journal.undo(&mut self.unit, block.number + 1).await?;
            return Ok(top.number - block.number);
        }
        let deepest = milestones.last().map_or(top.number, |block| block.number);
        // Before the first block that became final everything can be undone.
        match self.journal.progress().first_undoable() {
            Some(first) if !self.journal.progress().is_anchored() => {
                self.index.forget();
                self.journal.undo(&mut self.unit, first).await?;
                Ok(top.number + 1 - first)
            }
            _ => Err(IndexError::TooDeep(deepest)),
        }
    }

    /// Number of the newest block. One that was read and is missing is waited for a while: nodes lag behind each other.
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

/// Where to cut events, given their blocks: between two blocks, after at most [`MAX_EVENTS`] unless one block has more.
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
