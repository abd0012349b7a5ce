//! Follows one chain. Progress moves only past blocks that are applied, and back where the chain drops blocks.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use futures::future::{Either, select};
use shared::{
    chain::{
        Chain,
        node::{Node, NodeError},
    },
    model::{ArtistChanged, ChainId},
    store::{
        artist::Artists,
        chain::ChainTable,
        engine::{BlockId, Extent, Journal, Opened, UnitOfWork, Usage},
    },
};
use tokio::sync::mpsc;

use crate::{
    apply::Index,
    batch::{Batches, Ranges},
    error::IndexError,
    propagate::{self, Propagation},
    read::{EventReader, Head, ReadError},
};

/// Pause before a node with fewer blocks than were indexed is asked again: it lags, or the chain became shorter.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time of each pass that background work has to itself; more only when there are no new blocks.
const BACKGROUND_SHARE: Duration = Duration::from_millis(500);
const BACKGROUND_TIME: Duration = Duration::from_secs(5);

/// Time between two publications of blocks that became final without new events.
const PUBLISH_EVERY: Duration = Duration::from_secs(15);

/// Most reorganisations during the reads of one pass.
const MAX_REORGANISATIONS: u32 = 10;

/// Indexes one chain.
pub struct Follower {
    chain: Chain,
    reader: EventReader,
    work: UnitOfWork,
    journal: Journal,
    artists: Artists,
    index: Index,
    batches: Batches,
    propagation: Propagation,
    /// The last block that was read, where blocks without events follow the stored progress.
    unstored: Option<BlockId>,
    published: Instant,
    is_begun: bool,
}

/// Result of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// First block that wasn't indexed before.
    pub first_block: u64,
    /// First block that isn't indexed yet.
    pub next_block: u64,
    /// Events applied.
    pub events: usize,
    /// Blocks undone.
    pub undone: u64,
    /// Blocks that the best node has and that aren't indexed yet.
    pub behind: u64,
    /// Unix time of the last block that was read in this pass or, if none was, of the chain's newest; in seconds.
    pub reached_time: u64,
}

impl Follower {
    /// A follower that reads from `nodes` and writes to the chain's table.
    pub fn new(chain: Chain, nodes: &Node, table: ChainTable, artists: Artists) -> Self {
        let (work, journal) = (UnitOfWork::new(table.clone()), Journal::new(table.clone(), chain.id));
        let reader = EventReader::new(&chain, nodes);
        let index = Index::new(chain.clone(), table, artists.clone(), reader.factories());
        Self {
            chain,
            reader,
            work,
            journal,
            artists,
            index,
            batches: Batches::default(),
            propagation: Propagation::default(),
            unstored: None,
            published: Instant::now(),
            is_begun: false,
        }
    }

    /// Id of the chain.
    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    /// The chain's first block with anything to index.
    pub fn since(&self) -> u64 {
        self.chain.first_block
    }

    /// Requests to nodes and to DynamoDB so far.
    pub fn usage(&self) -> (u64, Usage) {
        (self.reader.calls(), self.work.usage())
    }

    /// A run of one pass: see [`Follower::pass`].
    pub async fn follow(
        &mut self,
        to: Option<u64>,
        deadline: Option<Instant>,
        changes: &[ArtistChanged],
    ) -> Result<Followed, IndexError> {
        let followed = self.pass(to, deadline, changes).await?;
        self.finish().await?;
        Ok(followed)
    }

    /// Undoes dropped blocks, then indexes new ones up to block `to` and until `deadline`. Afterwards does background work
    /// for a while: fetched documents, relistings, renamed artists. It has time of its own, after the deadline, and
    /// needs no node. `changes` are stored for later passes once this returns without an error, or with one that
    /// [`IndexError::keeps_changes`]. Blocks indexed before an error stay indexed. [`Follower::finish`] comes after the
    /// last pass of a run.
    pub async fn pass(
        &mut self,
        to: Option<u64>,
        deadline: Option<Instant>,
        changes: &[ArtistChanged],
    ) -> Result<Followed, IndexError> {
        // Boxed: futures nested this deeply exceed the compiler's limits.
        let done = Box::pin(async {
            self.begin().await?;
            let followed = self.follow_blocks(to, deadline).await;
            if followed.as_ref().is_err_and(|error| !error.keeps_changes()) {
                return followed;
            }
            let is_behind = followed.as_ref().is_ok_and(|followed| followed.behind > 0);
            let share = if is_behind { BACKGROUND_SHARE } else { BACKGROUND_TIME };
            self.work_in_background(changes, deadline.map(|_| Instant::now() + share)).await?;
            followed
        })
        .await;
        if let Err(error) = &done {
            self.batches.failed(error);
            if error.keeps_changes() {
                // What is cached is still true, and dear to read with every pass until the nodes answer.
                self.is_begun = false;
                // What is half carried out is no part of the blocks that are stored next.
                if self.work.is_changed() {
                    self.work.clear();
                }
            } else {
                self.forget();
            }
        }
        done
    }

    /// Stores how far blocks without events are read.
    pub async fn finish(&mut self) -> Result<(), IndexError> {
        if let Some(last) = self.unstored.take() {
            let extent = Extent { last, within: None, final_block: None };
            let stored = self.journal.commit_to(&mut self.work, extent).await;
            if stored.is_err() {
                self.forget();
            }
            stored?;
        }
        self.is_begun = false;
        Ok(())
    }

    fn forget(&mut self) {
        self.index.forget();
        self.unstored = None;
        self.is_begun = false;
    }

    /// Opens the journal at the start of a run. What is cached is kept unless another run changed the table meanwhile.
    async fn begin(&mut self) -> Result<(), IndexError> {
        if !self.is_begun {
            self.reader.recheck_nodes();
            match self.journal.open(&mut self.work).await? {
                Opened::Unchanged => {}
                Opened::Changed => self.forget(),
                Opened::Restored => {
                    self.forget();
                    self.batches.crashed();
                }
            }
            self.journal.start_at(self.chain.first_block);
            self.is_begun = true;
        }
        Ok(())
    }

    async fn follow_blocks(&mut self, to: Option<u64>, deadline: Option<Instant>) -> Result<Followed, IndexError> {
        let mut followed = Followed::default();
        let mut reorganisations = 0;
        loop {
            let head = self.head().await?;
            followed.undone += self.undo_dropped(head.block.number).await?;
            followed.reached_time = head.block.time;
            followed.first_block = self.next_block();
            match self.read_to(&head, to, deadline, &mut followed).await {
                Err(IndexError::Read(ReadError::Reorganised)) if reorganisations < MAX_REORGANISATIONS => {
                    reorganisations += 1;
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    self.publish_final(head.final_block).await?;
                    followed.next_block = self.next_block();
                    followed.behind = head.block.number.saturating_add(1).saturating_sub(followed.next_block);
                    return Ok(followed);
                }
            }
        }
    }

    /// Publishes that indexed blocks became final, for the rankings, where no commit does.
    async fn publish_final(&mut self, final_block: Option<u64>) -> Result<(), IndexError> {
        let is_news = self.journal.oldest_undoable().is_some_and(|oldest| final_block.is_some_and(|it| oldest <= it));
        if is_news && self.published.elapsed() >= PUBLISH_EVERY {
            self.published = Instant::now();
            self.journal.set_final(&mut self.work, final_block).await?;
        }
        Ok(())
    }

    async fn work_in_background(&mut self, changes: &[ArtistChanged], end: Option<Instant>) -> Result<(), IndexError> {
        self.load().await?;
        // What may be undone is kept.
        let is_final = !self.reader.has_nodes();
        propagate::enqueue(&mut self.work, self.chain.id, changes)?;
        propagate::enqueue(&mut self.work, self.chain.id, &self.index.ended())?;
        self.journal.commit_beside(&mut self.work, is_final).await?;
        loop {
            let propagated = self.propagate(is_final).await?;
            let applied = match self.index.apply_background(&mut self.work, self.batches.limit()).await {
                Ok(()) => self.journal.commit_beside(&mut self.work, is_final).await,
                Err(error) => Err(error.into()),
            };
            let is_more = applied.map_err(IndexError::of_changes)? || propagated;
            if !is_more || end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
        }
        if self.propagation.retry() {
            self.propagate(is_final).await?;
        }
        Ok(())
    }

    /// Propagates a batch of artists' changes. Returns whether there was any.
    async fn propagate(&mut self, is_final: bool) -> Result<bool, IndexError> {
        let stores = (&mut self.journal, &mut self.work, &mut self.index);
        let (of, limit) = ((self.chain.id, &self.artists), self.batches.limit());
        self.propagation.run(stores, of, limit, is_final).await.map_err(IndexError::of_changes)
    }

    /// Reads the chain's collections, and what is hidden, unless they are known.
    async fn load(&mut self) -> Result<(), IndexError> {
        if let Some(known) = self.index.load().await? {
            self.reader.set_known(known.clone());
        }
        Ok(())
    }

    /// Indexes blocks up to the newest: first the final ones, then the others. Ranges are read while earlier ones are
    /// applied.
    async fn read_to(
        &mut self,
        head: &Head,
        to: Option<u64>,
        deadline: Option<Instant>,
        followed: &mut Followed,
    ) -> Result<(), IndexError> {
        self.load().await?;
        let last = to.map_or(head.block.number, |to| head.block.number.min(to));
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        while self.next_block() <= last && !is_over() {
            let first = self.next_block();
            let last = head.final_block.filter(|&block| first <= block).map_or(last, |block| last.min(block));
            self.read_between(first, last, head.final_block, &is_over, followed).await?;
        }
        Ok(())
    }

    async fn read_between(
        &mut self,
        first: u64,
        last: u64,
        final_block: Option<u64>,
        is_over: &(impl Fn() -> bool + Sync),
        followed: &mut Followed,
    ) -> Result<(), IndexError> {
        let (sender, receiver) = mpsc::channel(1);
        let within = self.journal.progress().within.filter(|_| self.unstored.is_none());
        let mut ranges = Ranges::new(receiver, final_block, within);
        let before = self.before();
        let (read, applied) = {
            let read = pin!(self.reader.read_all((first, last), before, final_block, is_over, sender));
            let store = (&mut self.journal, &mut self.work, &mut self.index);
            let apply = pin!(self.batches.apply(store, &mut ranges, is_over));
            // Once all is applied for which there is time, reading on is pointless.
            match select(read, apply).await {
                Either::Left((read, apply)) => (read, apply.await),
                Either::Right((applied, _)) => (Ok(()), applied),
            }
        };
        followed.events += ranges.events;
        followed.reached_time = ranges.reached_time.unwrap_or(followed.reached_time);
        self.unstored = if ranges.reached_time.is_some() { ranges.unstored } else { self.unstored };
        applied?;
        Ok(read?)
    }

    /// Undoes blocks that the chain dropped. Returns their number.
    async fn undo_dropped(&mut self, newest: u64) -> Result<u64, IndexError> {
        if let Some(last) = self.unstored
            && (last.number > newest || self.reader.block_hash(last.number).await? != last.hash)
        {
            self.unstored = None;
        }
        let milestones: Vec<BlockId> = self.journal.milestones().collect();
        let Some(top) = milestones.first().copied() else { return Ok(0) };
        if self.is_in_chain(top, newest).await? {
            return Ok(0);
        }
        // Newest first: those that are in the chain come after those that aren't.
        let (mut dropped, mut kept) = (0, milestones.len());
        while dropped + 1 < kept {
            let middle = dropped.midpoint(kept);
            if self.is_in_chain(milestones[middle], newest).await? { kept = middle } else { dropped = middle }
        }
        let deepest = milestones.last().map_or(top.number, |block| block.number);
        let from = match (milestones.get(kept), self.journal.first_undoable()) {
            (Some(block), _) => block.number + 1,
            // Until the first block became final, everything can be undone.
            (None, Some(first)) if !self.journal.is_anchored() => first,
            _ => return Err(IndexError::TooDeep(deepest)),
        };
        self.index.forget();
        self.unstored = None;
        tracing::warn!(chain.id = self.chain.id.0, from, "blocks undone: the chain dropped them");
        self.journal.undo(&mut self.work, from).await?;
        Ok(top.number + 1 - from)
    }

    async fn is_in_chain(&mut self, block: BlockId, newest: u64) -> Result<bool, NodeError> {
        Ok(block.number <= newest && self.reader.block_hash(block.number).await? == block.hash)
    }

    /// The newest block. Waits once for nodes that lag behind the indexed blocks.
    async fn head(&mut self) -> Result<Head, NodeError> {
        let known = self.before().map(|block| block.number);
        let head = self.reader.head(known).await?;
        if known.is_none_or(|known| head.block.number >= known) {
            return Ok(head);
        }
        tokio::time::sleep(PATIENCE).await;
        self.reader.head(known).await
    }

    /// The last block that is indexed, at least in part.
    fn before(&self) -> Option<BlockId> {
        let next = self.next_block();
        let stored = self.journal.milestones().next();
        self.unstored.or(stored).filter(|block| block.number + 1 == next || block.number == next)
    }

    fn next_block(&self) -> u64 {
        let stored = self.journal.progress().next_block.unwrap_or(self.chain.first_block);
        self.unstored.map_or(stored, |last| last.number + 1)
    }
}
