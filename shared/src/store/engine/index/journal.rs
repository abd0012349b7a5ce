//! Commits a batch of blocks with the previous images of its rows, to undo it after a crash or a reorg.
//!
//! A batch over a transaction's limits is written in the order journal, pending mark, rows, progress.

use std::{collections::HashMap, sync::Arc};

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{Delete, Put, TransactWriteItem};
use uuid::Uuid;

use super::{
    bulk::{Bulk, Write},
    images::{images_field, images_of, packed},
    log::{appended, live_events},
    progress::{Batch, BlockId, EventPlace, Pending, Progress},
    unit_of_work::{Change, MAX_EVENT_BYTES, UnitOfWork},
};
use crate::{
    clock,
    model::ChainId,
    store::engine::{
        event_segments::{LogHead, json},
        table::{ChainTable, Item, PrimaryKey, StoreError, Table, row},
    },
};

/// Writes and bytes per transaction; DynamoDB's limits are 100 and 4 MB.
const MAX_TRANSACTION: usize = 100;
const MAX_TRANSACTION_BYTES: usize = 3_000_000;

/// Most bytes of changes whose images are in the batch's own row: a small batch has no other.
const MAX_WITHIN: usize = 16_000;

const MAX_STALE: usize = 24;

/// How long a pending batch belongs to the run that began it, in seconds: longer than its rows may take to write.
const LEASE: u64 = 100;

/// Failed commit or undo. The unit of work is empty then, and the journal must be opened again.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another run works on the same chain.
    #[error("another run reads this chain")]
    Overtaken,
    /// The reorg is deeper than the journal reaches.
    #[error("blocks from {0} on can't be undone: the journal doesn't reach that far")]
    NotKept(u64),
}

/// How far a batch reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The last block that has changes in the batch.
    pub last: BlockId,
    /// Place of the first event of that block that isn't in the batch; `None` if the block is done.
    pub within: Option<EventPlace>,
    /// The last block that can't be dropped. Batches up to it can't be undone any more.
    pub final_block: Option<u64>,
}

/// Changes on their way into the table, and what they tell.
#[derive(Default)]
pub struct Prepared {
    changes: Vec<Change>,
    events: Vec<String>,
}

/// The journal of one chain, or of other work.
pub struct Journal {
    bulk: Bulk,
    work: String,
    owner: String,
    progress: Progress,
    /// Batches that can be undone, the oldest first.
    batches: Vec<Batch>,
    /// Final batches whose rows are yet to be deleted.
    stale: Vec<Batch>,
    is_open: bool,
}

/// State of an opened journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Nothing changed since the last commit of this journal.
    Unchanged,
    /// The rows are consistent, but may have changed.
    Changed,
    /// The rows of a half-written batch were restored.
    Restored,
}

impl Journal {
    /// Creates the journal of a chain; [`Journal::open`] comes next.
    pub fn new(table: ChainTable, chain: ChainId) -> Self {
        Self::of_work(table, chain.to_string())
    }

    /// Creates the journal of work that belongs to no chain and is never undone.
    pub fn of_work(table: ChainTable, work: String) -> Self {
        Self {
            bulk: Bulk::new(table.0),
            work,
            owner: Uuid::new_v4().to_string(),
            progress: Progress::default(),
            batches: Vec::new(),
            stale: Vec::new(),
            is_open: false,
        }
    }

    /// Returns the progress as of the last call.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns blocks to compare with the chain, newest first: where one still matches, so do all before it.
    pub fn milestones(&self) -> impl Iterator<Item = BlockId> {
        self.batches.iter().rev().map(|batch| batch.last).chain(self.progress.anchor)
    }

    /// Returns the first block that can be undone.
    pub fn first_undoable(&self) -> Option<u64> {
        self.batches.first().map(|batch| batch.first)
    }

    /// Returns the last block of the oldest batch that can be undone.
    pub fn oldest_undoable(&self) -> Option<u64> {
        self.batches.first().map(|batch| batch.last.number)
    }

    /// Returns whether any indexed block is final.
    pub fn is_anchored(&self) -> bool {
        self.progress.anchor.is_some()
    }

    /// Reads the progress and undoes a half-written batch. Comes first, and again after an error.
    pub async fn open(&mut self, unit: &mut UnitOfWork) -> Result<Opened, CommitError> {
        let progress = Progress::of_work(&self.bulk.table, &self.work).await?;
        if self.is_open && progress == self.progress {
            if unit.is_changed() {
                unit.clear();
            }
            return Ok(Opened::Unchanged);
        }
        unit.clear();
        self.progress = progress;
        let all = Batch::all(&self.bulk.table, &self.work).await?;
        let anchor = self.progress.anchor.map(|anchor| anchor.number);
        let is_stale = |batch: &Batch| anchor.is_some_and(|anchor| batch.last.number <= anchor);
        (self.stale, self.batches) = all.into_iter().partition(is_stale);
        let mut opened = Opened::Changed;
        if let Some(pending) = self.progress.pending.clone() {
            if pending.owner != self.owner && pending.until > now() {
                return Err(CommitError::Overtaken);
            }
            // A batch that was final at once is among the stale ones.
            let half = self.stale.extract_if(.., |batch| batch.serial >= pending.undo_from).collect::<Vec<_>>();
            self.batches.extend(half);
            let kept = self.batches.iter().take_while(|batch| batch.serial < pending.undo_from).count();
            self.undo_after(unit, kept).await?;
            opened = Opened::Restored;
        }
        self.is_open = true;
        Ok(opened)
    }

    /// Commits the changes as those of blocks `first` to `last`. Batches up to `final_block` stay for good.
    pub async fn commit(
        &mut self,
        unit: &mut UnitOfWork,
        first: u64,
        last: BlockId,
        final_block: Option<u64>,
    ) -> Result<(), CommitError> {
        self.start_at(first);
        self.commit_to(unit, Extent { last, within: None, final_block }).await
    }

    /// Commits the changes of the next blocks.
    pub async fn commit_to(&mut self, unit: &mut UnitOfWork, extent: Extent) -> Result<(), CommitError> {
        let prepared = self.prepare(unit).await?;
        self.finish(unit, prepared, extent, false).await
    }

    /// Commits changes beside the blocks, as part of the newest indexed one, which `is_final` if no other will come; drops
    /// them (`false`) without one.
    pub async fn commit_beside(&mut self, unit: &mut UnitOfWork, is_final: bool) -> Result<bool, CommitError> {
        let newest = self.milestones().next();
        let Some(last) = newest.filter(|_| unit.is_changed()) else {
            unit.clear();
            return Ok(false);
        };
        let prepared = self.prepare(unit).await?;
        let final_block = is_final.then_some(last.number);
        let extent = Extent { last, within: self.progress.within, final_block };
        self.finish(unit, prepared, extent, true).await.map(|()| true)
    }

    /// Publishes that blocks up to `final_block` can't be dropped any more, without other changes.
    pub async fn set_final(&mut self, unit: &mut UnitOfWork, final_block: Option<u64>) -> Result<(), CommitError> {
        let Some(last) = self.milestones().next() else { return Ok(()) };
        let extent = Extent { last, within: self.progress.within, final_block };
        self.finish(unit, Prepared::default(), extent, true).await
    }

    /// Commits the changes as the next step of work that is never undone.
    pub async fn commit_step(&mut self, unit: &mut UnitOfWork) -> Result<(), CommitError> {
        let step = self.progress.next_block.unwrap_or_default();
        self.commit(unit, step, BlockId { number: step, hash: B256::ZERO }, Some(step)).await
    }

    /// Takes the unit's changes, for [`Journal::write`]. Until then it may be changed, not trimmed.
    pub async fn prepare(&mut self, unit: &mut UnitOfWork) -> Result<Prepared, CommitError> {
        Ok(Prepared { changes: unit.take_changes().await?, events: unit.take_events() })
    }

    async fn finish(
        &mut self,
        unit: &mut UnitOfWork,
        prepared: Prepared,
        extent: Extent,
        is_beside: bool,
    ) -> Result<(), CommitError> {
        let written = self.write_batch(prepared, extent, is_beside).await;
        unit.add_usage(self.bulk.take_usage());
        match written {
            Ok(()) => {
                unit.forget_born();
                unit.trim();
            }
            Err(_) => {
                self.is_open = false;
                unit.clear();
            }
        }
        written
    }

    /// Writes changes of the next blocks. [`Journal::settle`] comes next.
    pub async fn write(&mut self, prepared: Prepared, extent: Extent) -> Result<(), CommitError> {
        let written = self.write_batch(prepared, extent, false).await;
        self.is_open &= written.is_ok();
        written
    }

    /// Adds the usage of [`Journal::write`] to the unit's.
    pub fn settle(&mut self, unit: &mut UnitOfWork) {
        unit.forget_born();
        unit.add_usage(self.bulk.take_usage());
    }

    /// Sets the first block to index, where no block is indexed.
    pub fn start_at(&mut self, first: u64) {
        self.progress.next_block.get_or_insert(first);
    }

    /// Undoes every batch that reaches block `from` or later. On [`CommitError::NotKept`] nothing is changed.
    pub async fn undo(&mut self, unit: &mut UnitOfWork, from: u64) -> Result<(), CommitError> {
        unit.clear();
        let kept = self.batches.iter().take_while(|batch| batch.last.number < from).count();
        let undone = match self.batches.get(kept).map(|batch| batch.first) {
            Some(first) if first <= from => self.undo_after(unit, kept).await,
            None if self.progress.next_block.is_none_or(|next| next <= from) => Ok(()),
            _ => Err(CommitError::NotKept(from)),
        };
        self.is_open &= undone.is_ok();
        undone
    }

    async fn undo_after(&mut self, unit: &mut UnitOfWork, kept: usize) -> Result<(), CommitError> {
        while self.batches.len() > kept {
            let part = self.last_part(kept);
            self.undo_part(unit, part).await?;
        }
        Ok(())
    }

    /// The oldest of the newest batches whose events fit into one transaction.
    fn last_part(&self, kept: usize) -> usize {
        let (mut first, mut bytes) = (self.batches.len(), 0);
        for (index, batch) in self.batches.iter().enumerate().skip(kept).rev() {
            bytes += batch.event_bytes;
            if bytes > MAX_EVENT_BYTES && first < self.batches.len() {
                break;
            }
            first = index;
        }
        first
    }

    async fn undo_part(&mut self, unit: &mut UnitOfWork, kept: usize) -> Result<(), CommitError> {
        let undone = self.batches.get(kept..).unwrap_or_default().to_vec();
        let Some((oldest, newer)) = undone.split_first() else { return Ok(()) };
        let before = self.images(&undone).await?;

        let mut begun = self.progress.clone();
        begun.pending = Some(self.pending(oldest.serial));
        (begun.next_block, begun.within) = (Some(oldest.first), oldest.within);
        self.replace(begun.clone(), Vec::new()).await?;
        self.bulk.write(before.into_iter().map(|(key, item)| (key, item.map(Arc::new))).collect()).await?;
        // The newest first: a crash in between leaves batches that can be undone once more.
        let newer: Vec<_> =
            newer.iter().rev().flat_map(|batch| batch.keys(&self.work)).map(|key| (key, None)).collect();
        self.bulk.write(newer).await?;
        begun = self.progress.clone();
        begun.pending = None;
        let mut rows = self.taking_back(&mut begun, oldest.first_event).await?;
        rows.push((oldest.key(&self.work), None));
        self.replace(begun, rows).await?;
        self.bulk.write(oldest.chunk_keys(&self.work).map(|key| (key, None)).collect()).await?;
        self.batches.truncate(kept);
        unit.add_usage(self.bulk.take_usage());
        Ok(())
    }

    /// Takes back what was told from event `first` on. A half-written batch has told nothing.
    async fn taking_back(&self, progress: &mut Progress, first: u64) -> Result<Vec<Write>, CommitError> {
        let Some(head) = progress.log else { return Ok(Vec::new()) };
        let reverted = live_events(&self.bulk.table, &self.work, first, head.last).await?.into_iter().rev();
        let time = now();
        let events = reverted.map(|event| json(&event.reverted(time))).collect::<Result<Vec<_>, _>>()?;
        self.append_to_log(progress, &events)
    }

    fn append_to_log(&self, progress: &mut Progress, events: &[String]) -> Result<Vec<Write>, CommitError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let head = progress.log.unwrap_or_else(LogHead::new);
        progress.log = Some(LogHead { last: head.last + events.len() as u64, ..head });
        Ok(appended(&self.work, head, events)?)
    }

    async fn images(&mut self, batches: &[Batch]) -> Result<HashMap<PrimaryKey, Option<Item>>, CommitError> {
        let mut before = HashMap::new();
        for batch in batches.iter().rev() {
            let keys = batch.image_keys(&self.work).collect();
            for (_, chunk) in self.bulk.read(keys).await? {
                let chunk = chunk.ok_or(CommitError::NotKept(batch.first))?;
                before.extend(images_of(chunk)?.into_iter().map(|image| (image.key, image.before)));
            }
        }
        Ok(before)
    }

    async fn write_batch(&mut self, prepared: Prepared, extent: Extent, is_beside: bool) -> Result<(), CommitError> {
        let Prepared { changes, events } = prepared;
        let mut progress = self.progress.clone();
        progress.final_block = progress.final_block.max(extent.final_block);
        let serial = progress.version + 1;
        let next = progress.next_block.unwrap_or(extent.last.number);
        let (writer, within) = (self.owner.clone(), progress.within);
        let first_event = progress.log.map_or(0, |head| head.last) + 1;
        let event_bytes = events.iter().map(String::len).sum();
        let log = self.append_to_log(&mut progress, &events)?;
        let last = extent.last;
        let mut batch = Batch { serial, writer, first: next, within, last, chunks: 0, first_event, event_bytes };
        if !is_beside {
            progress.within = extent.within;
            progress.next_block = Some(extent.last.number + u64::from(extent.within.is_none()));
        }
        let is_final = |batch: &Batch| progress.final_block.is_some_and(|last| batch.last.number <= last);
        let dropped = self.batches.iter().take_while(|batch| is_final(batch)).count();
        let is_born_final = is_final(&batch);
        let newly_stale = self.batches.get(..dropped).unwrap_or_default();
        progress.anchor = newly_stale.last().map(|batch| batch.last).or(progress.anchor);
        if is_born_final {
            progress.anchor = Some(extent.last);
        }
        let deleted = deletable(self.stale.iter().chain(newly_stale), &self.work);
        let deletions = self.stale.iter().chain(newly_stale).take(deleted).flat_map(|batch| batch.keys(&self.work));
        let mut journal: Vec<Write> = deletions.map(|key| (key, None)).collect();

        let bytes: usize = changes.iter().map(Change::bytes).sum();
        let chunks = packed(&changes, is_born_final && !is_beside);
        let writes = changes.len() + chunks.len() + journal.len() + log.len() + 2;
        let fits = writes <= MAX_TRANSACTION && bytes + event_bytes <= MAX_TRANSACTION_BYTES;
        let is_nothing = is_beside && changes.is_empty();
        let is_kept = !(fits && (is_born_final || is_nothing));
        let mut mark = Vec::new();
        if is_kept {
            let is_small = chunks.len() < 2 && bytes <= MAX_WITHIN;
            batch.chunks = if is_small { 0 } else { u32::try_from(chunks.len()).unwrap_or(u32::MAX) };
            let key = batch.key(&self.work);
            let mut item = row(&key, &batch)?;
            if is_small {
                item.extend(images_field(chunks.into_iter().flatten())?);
            } else {
                for (key, images) in batch.chunk_keys(&self.work).zip(chunks) {
                    let item = key.item().into_iter().chain(images_field(images)?).collect();
                    journal.push((key, Some(Arc::new(item))));
                }
            }
            mark.push((key, Some(Arc::new(item))));
        }
        let rows = changes.into_iter().map(|change| (change.key, change.after));
        if fits {
            self.replace(progress, journal.into_iter().chain(mark).chain(rows).chain(log).collect()).await?;
        } else {
            self.write_marked((progress, log), journal, mark, rows.collect(), serial).await?;
        }
        self.stale.extend(self.batches.drain(..dropped));
        self.stale.drain(..deleted);
        if is_kept {
            if is_born_final { self.stale.push(batch) } else { self.batches.push(batch) }
        }
        Ok(())
    }

    /// Writes a batch that doesn't fit into a transaction. The mark in the middle changes `pending` alone.
    async fn write_marked(
        &mut self,
        (done, log): (Progress, Vec<Write>),
        journal: Vec<Write>,
        mark: Vec<Write>,
        rows: Vec<Write>,
        serial: u64,
    ) -> Result<(), CommitError> {
        let images: Vec<_> = journal.iter().filter(|(_, item)| item.is_some()).map(|(key, _)| key.clone()).collect();
        self.bulk.write(journal).await?;
        let mut begun = self.progress.clone();
        begun.pending = Some(self.pending(serial));
        if let Err(error) = self.replace(begun, mark).await {
            if matches!(error, CommitError::Overtaken) {
                self.bulk.write(images.into_iter().map(|key| (key, None)).collect()).await?;
            }
            return Err(error);
        }
        self.bulk.write(rows).await?;
        let version = self.progress.version;
        self.replace(Progress { version, ..done }, log).await
    }

    async fn replace(&mut self, mut progress: Progress, rows: Vec<Write>) -> Result<(), CommitError> {
        progress.version += 1;
        let rows = rows
            .into_iter()
            .map(|(key, item)| transaction_write(&self.bulk.table, &key, item.map(Arc::unwrap_or_clone)));
        let mut items = rows.collect::<Result<Vec<_>, _>>()?;
        items.push(progress.replacement(&self.bulk.table, &self.work)?);
        if !self.bulk.write_together(items).await? {
            return Err(CommitError::Overtaken);
        }
        self.progress = progress;
        Ok(())
    }

    fn pending(&self, undo_from: u64) -> Pending {
        Pending { undo_from, owner: self.owner.clone(), until: now() + LEASE }
    }
}

/// Number of the first batches whose rows one commit may delete.
fn deletable<'a>(batches: impl Iterator<Item = &'a Batch>, work: &str) -> usize {
    let mut room = MAX_STALE;
    batches
        .take_while(|batch| {
            let rows = batch.keys(work).count();
            let fits = rows <= room || room == MAX_STALE;
            room = room.saturating_sub(rows);
            fits
        })
        .count()
}

fn transaction_write(table: &Table, key: &PrimaryKey, item: Option<Item>) -> Result<TransactWriteItem, StoreError> {
    let write = TransactWriteItem::builder();
    Ok(match item {
        Some(item) => write.put(Put::builder().table_name(&table.name).set_item(Some(item)).build()?).build(),
        None => write.delete(Delete::builder().table_name(&table.name).set_key(Some(key.item())).build()?).build(),
    })
}

fn now() -> u64 {
    clock::now().map_or(0, |time| time.as_secs())
}
