//! Commits a batch of blocks with the previous images of its rows, to undo it after a crash or a reorg.
//!
//! A batch over the limits of a transaction is written in the order journal, pending mark, rows, progress.

use std::collections::HashMap;

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{AttributeValue, Delete, Put, TransactWriteItem};
use uuid::Uuid;

use super::{
    progress::{Batch, BlockId, Pending, Progress},
    unit_of_work::{Change, UnitOfWork},
};
use crate::{
    clock,
    model::ChainId,
    store::table::{Item, PrimaryKey, StoreError, Table},
};

/// Writes and bytes per transaction; DynamoDB's limits are 100 and 4 MB.
const MAX_TRANSACTION: usize = 100;
const MAX_TRANSACTION_BYTES: usize = 3_000_000;

/// Approximate bytes of images per journal row; DynamoDB's limit is 400 KB per row.
const CHUNK_BYTES: usize = 150_000;

/// How long a pending batch belongs to the run that began it, in seconds: longer than a run may take.
const LEASE: u64 = 330;

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

/// The journal of one chain, or of other work.
pub struct Journal {
    table: Table,
    work: String,
    owner: String,
    progress: Progress,
}

struct Image {
    key: PrimaryKey,
    before: Option<Item>,
}

// Attributes of a journal row and of its images.
const IMAGES: &str = "images";
const KEY: &str = "key";
const BEFORE: &str = "before";

impl Journal {
    /// Creates the journal of a chain; [`Journal::open`] comes next.
    pub fn new(table: Table, chain: ChainId) -> Self {
        Self::of_work(table, chain.to_string())
    }

    /// Creates the journal of work that belongs to no chain and is never undone.
    pub fn of_work(table: Table, work: String) -> Self {
        Self { table, work, owner: Uuid::new_v4().to_string(), progress: Progress::default() }
    }

    /// Returns the progress as of the last call.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Reads the progress and undoes a half-written batch. Must come first, and again after an error.
    pub async fn open(&mut self, unit: &mut UnitOfWork) -> Result<(), CommitError> {
        unit.clear();
        self.progress = Progress::of_work(&self.table, &self.work).await?;
        let Some(pending) = &self.progress.pending else { return Ok(()) };
        if pending.owner != self.owner && pending.until > now() {
            return Err(CommitError::Overtaken);
        }
        let undo_from = pending.undo_from;
        let kept = self.progress.batches.iter().take_while(|batch| batch.serial < undo_from).count();
        self.undo_after(unit, kept).await
    }

    /// Commits the changes as those of blocks `first` to `last`; changes between blocks have `first = last + 1`.
    /// Batches up to `final_block`, the last block that can't be dropped, can't be undone any more.
    pub async fn commit(
        &mut self,
        unit: &mut UnitOfWork,
        first: u64,
        last: BlockId,
        final_block: Option<u64>,
    ) -> Result<(), CommitError> {
        let written = self.write_batch(unit, first, last, final_block).await;
        match written {
            Ok(()) => unit.settle(),
            Err(_) => unit.clear(),
        }
        written
    }

    /// Commits the changes as the next step of work that is never undone.
    pub async fn commit_step(&mut self, unit: &mut UnitOfWork) -> Result<(), CommitError> {
        let step = self.progress.next_block.unwrap_or_default();
        self.commit(unit, step, BlockId { number: step, hash: B256::ZERO }, Some(step)).await
    }

    /// Undoes every batch that reaches block `from` or later. On [`CommitError::NotKept`] nothing is changed.
    pub async fn undo(&mut self, unit: &mut UnitOfWork, from: u64) -> Result<(), CommitError> {
        unit.clear();
        let kept = self.progress.batches.iter().take_while(|batch| batch.last.number < from).count();
        match self.progress.batches.get(kept).map(|batch| batch.first) {
            Some(first) if first <= from => self.undo_after(unit, kept).await,
            None if self.progress.next_block.is_none_or(|next| next <= from) => Ok(()),
            _ => Err(CommitError::NotKept(from)),
        }
    }

    async fn undo_after(&mut self, unit: &mut UnitOfWork, kept: usize) -> Result<(), CommitError> {
        let undone = self.progress.batches.get(kept..).unwrap_or_default().to_vec();
        let Some(Batch { serial, first, .. }) = undone.first().cloned() else { return Ok(()) };
        let before = self.images(unit, &undone).await?;

        let mut begun = self.progress.clone();
        begun.pending = Some(self.pending(serial));
        self.replace(unit, begun).await?;
        unit.write(before.into_iter().collect()).await?;
        let mut done = self.progress.clone();
        done.batches.truncate(kept);
        (done.next_block, done.pending) = (Some(first), None);
        self.replace(unit, done).await?;
        unit.write(undone.iter().flat_map(|batch| self.chunk_keys(batch)).map(|key| (key, None)).collect()).await?;
        Ok(())
    }

    async fn images(
        &self,
        unit: &mut UnitOfWork,
        batches: &[Batch],
    ) -> Result<HashMap<PrimaryKey, Option<Item>>, CommitError> {
        let mut before = HashMap::new();
        for batch in batches.iter().rev() {
            let keys = self.chunk_keys(batch).collect();
            for (_, chunk) in unit.read(keys).await? {
                let chunk = chunk.ok_or(CommitError::NotKept(batch.first))?;
                before.extend(images_of(chunk)?.into_iter().map(|image| (image.key, image.before)));
            }
        }
        Ok(before)
    }

    async fn write_batch(
        &mut self,
        unit: &mut UnitOfWork,
        first: u64,
        last: BlockId,
        final_block: Option<u64>,
    ) -> Result<(), CommitError> {
        let changes = unit.changes().await?;
        let mut progress = self.progress.clone();
        progress.final_block = progress.final_block.max(final_block);
        let is_final = |batch: &Batch| progress.final_block.is_some_and(|last| batch.last.number <= last);
        let dropped: Vec<Batch> = progress.batches.iter().filter(|batch| is_final(batch)).cloned().collect();
        let serial = self.progress.version + 1;
        let mut batch = Batch { serial, first, last, chunks: 0 };
        let is_born_final = is_final(&batch);
        progress.batches.drain(..dropped.len());
        progress.anchor = dropped.last().map(|batch| batch.last).or(progress.anchor);
        progress.next_block = Some(last.number + 1);

        let chunks = chunks(&changes);
        let stale = dropped.iter().flat_map(|batch| self.chunk_keys(batch));
        let mut journal: Vec<(PrimaryKey, Option<Item>)> = stale.map(|key| (key, None)).collect();
        let bytes: usize = changes.iter().map(Change::bytes).sum();
        let writes = changes.len() + chunks.len() + journal.len() + 1;
        let fits = writes <= MAX_TRANSACTION && bytes <= MAX_TRANSACTION_BYTES;
        if !(fits && is_born_final) {
            batch.chunks = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
            journal.extend(self.chunk_keys(&batch).zip(chunks).map(|(key, images)| {
                let mut item = key.item();
                item.insert(IMAGES.to_owned(), AttributeValue::L(images.into_iter().map(Image::value).collect()));
                (key, Some(item))
            }));
        }
        if is_born_final && fits {
            progress.anchor = Some(last);
        } else {
            progress.batches.push(batch);
        }
        let rows = changes.into_iter().map(|change| (change.key, change.after));
        if fits {
            return self.replace_with(unit, progress, journal.into_iter().chain(rows).collect()).await;
        }
        unit.write(journal).await?;
        let next_block = progress.next_block;
        (progress.next_block, progress.pending) = (self.progress.next_block, Some(self.pending(serial)));
        self.replace(unit, progress).await?;
        unit.write(rows.collect()).await?;
        let mut done = self.progress.clone();
        (done.next_block, done.pending) = (next_block, None);
        self.replace(unit, done).await
    }

    async fn replace(&mut self, unit: &mut UnitOfWork, progress: Progress) -> Result<(), CommitError> {
        self.replace_with(unit, progress, Vec::new()).await
    }

    async fn replace_with(
        &mut self,
        unit: &mut UnitOfWork,
        mut progress: Progress,
        rows: Vec<(PrimaryKey, Option<Item>)>,
    ) -> Result<(), CommitError> {
        progress.version += 1;
        unit.usage.writes += 1;
        unit.usage.rows_written += 1 + rows.len() as u64;
        let rows = rows.into_iter().map(|(key, item)| transaction_write(&self.table, &key, item));
        let mut items = rows.collect::<Result<Vec<_>, _>>()?;
        items.push(progress.replacement(&self.table, &self.work)?);
        if !self.table.write_together(items).await? {
            return Err(CommitError::Overtaken);
        }
        self.progress = progress;
        Ok(())
    }

    fn pending(&self, undo_from: u64) -> Pending {
        Pending { undo_from, owner: self.owner.clone(), until: now() + LEASE }
    }

    fn chunk_keys(&self, batch: &Batch) -> impl Iterator<Item = PrimaryKey> + use<> {
        let (partition, serial) = (format!("JOURNAL#{}", self.work), batch.serial);
        (0..batch.chunks).map(move |chunk| PrimaryKey::new(&partition, format!("{serial:020}#{chunk:06}")))
    }
}

impl Change {
    fn bytes(&self) -> usize {
        let item = |item: &Option<Item>| item.iter().flatten().map(|(name, value)| name.len() + bytes(value)).sum();
        let (before, after): (usize, usize) = (item(&self.before), item(&self.after));
        self.key.pk.len() + self.key.sk.len() + before + after
    }
}

impl Image {
    fn value(self) -> AttributeValue {
        let key = self.key.item();
        // The row's own key is stored once.
        let fields = |item: Item| item.into_iter().filter(|(name, _)| !key.contains_key(name)).collect();
        let before = self.before.map_or(AttributeValue::Null(true), |item| AttributeValue::M(fields(item)));
        AttributeValue::M(Item::from([(KEY.to_owned(), AttributeValue::M(key)), (BEFORE.to_owned(), before)]))
    }

    fn of(value: AttributeValue) -> Option<Self> {
        let AttributeValue::M(mut fields) = value else { return None };
        let AttributeValue::M(key) = fields.remove(KEY)? else { return None };
        let before = match fields.remove(BEFORE)? {
            AttributeValue::M(item) => Some(item.into_iter().chain(key.clone()).collect()),
            _ => None,
        };
        Some(Self { key: serde_dynamo::from_item(key).ok()?, before })
    }
}

fn images_of(mut chunk: Item) -> Result<Vec<Image>, StoreError> {
    let images = match chunk.remove(IMAGES) {
        Some(AttributeValue::L(images)) => images.into_iter().map(Image::of).collect(),
        _ => None,
    };
    images.ok_or_else(|| serde::de::Error::custom("no images")).map_err(StoreError::Row)
}

fn chunks(changes: &[Change]) -> Vec<Vec<Image>> {
    let mut chunks: Vec<Vec<Image>> = Vec::new();
    let mut room = 0;
    for change in changes {
        let image = Image { key: change.key.clone(), before: change.before.clone() };
        let size = change.bytes();
        match chunks.last_mut() {
            Some(chunk) if size <= room => chunk.push(image),
            _ => {
                chunks.push(vec![image]);
                room = CHUNK_BYTES;
            }
        }
        room = room.saturating_sub(size);
    }
    chunks
}

fn transaction_write(table: &Table, key: &PrimaryKey, item: Option<Item>) -> Result<TransactWriteItem, StoreError> {
    let write = TransactWriteItem::builder();
    Ok(match item {
        Some(item) => write.put(Put::builder().table_name(&table.name).set_item(Some(item)).build()?).build(),
        None => write.delete(Delete::builder().table_name(&table.name).set_key(Some(key.item())).build()?).build(),
    })
}

fn bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::L(values) => 3 + values.iter().map(|value| 1 + bytes(value)).sum::<usize>(),
        AttributeValue::M(fields) => {
            3 + fields.iter().map(|(name, value)| 1 + name.len() + bytes(value)).sum::<usize>()
        }
        AttributeValue::B(blob) => blob.as_ref().len(),
        _ => 1,
    }
}

fn now() -> u64 {
    clock::now().map_or(0, |time| time.as_secs())
}
