//! Progress of a chain's indexing. Rows: docs/data-model.md, Indexer.

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    model::ChainId,
    store::engine::{
        event_segments::LogHead,
        rows,
        table::{ChainTable, PrimaryKey, StoreError, Table, number, row, text},
    },
};

/// A block as it was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockId {
    /// Block number.
    pub number: u64,
    /// Block hash, which commits to all blocks before it.
    pub hash: B256,
}

/// A place among the events of a block, in the order in which they are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventPlace {
    /// Index of the transaction in the block.
    pub transaction: u64,
    /// Whether the event comes after the transaction's new collections.
    pub is_later: bool,
    /// Index of the log in the block.
    pub log: u64,
    /// Number of the event's tokens that are done.
    pub tokens: u64,
}

/// Progress of a chain. It says only what is wholly stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub(super) version: u64,
    /// First block that isn't wholly indexed; `None` before the first run.
    pub next_block: Option<u64>,
    /// Place of the first event of that block that isn't indexed; `None` if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<EventPlace>,
    /// Last block that can't be undone; it may lie ahead of [`Progress::next_block`].
    pub final_block: Option<u64>,
    pub(super) anchor: Option<BlockId>,
    /// End of the log of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<LogHead>,
    /// Set while a batch is half written or half undone.
    pub(super) pending: Option<Pending>,
}

/// Blocks whose changes were committed together: a row of its own. Changes beside the blocks have `first` after `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) serial: u64,
    /// Id of the writer, which is part of the journal's keys: two writers' images never meet.
    pub(super) writer: String,
    pub(super) first: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<EventPlace>,
    /// Undoing this block undoes the batch.
    pub(super) last: BlockId,
    /// Number of rows with its images; 0 if they are in this one.
    pub(super) chunks: u32,
    /// Number of the first event that was told since it began.
    #[serde(default)]
    pub(super) first_event: u64,
    /// Bytes of its events.
    #[serde(default)]
    pub(super) event_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) undo_from: u64,
    pub(super) owner: String,
    pub(super) until: u64,
}

impl Progress {
    /// Reads the progress of a chain. One read.
    pub async fn of(table: &ChainTable, chain: ChainId) -> Result<Self, StoreError> {
        Self::of_work(table, &chain.to_string()).await
    }

    /// End of the log of events; `None` before the first one.
    pub fn log(&self) -> Option<LogHead> {
        self.log
    }

    /// Returns whether everything in a block is indexed, and can't be undone.
    pub fn is_settled(&self, block: u64) -> bool {
        self.final_block.is_some_and(|last| block <= last) && self.next_block.is_some_and(|next| block < next)
    }

    /// The first block that isn't indexed for good: all before it are, and can't be undone. `None` if no block is.
    pub fn first_unsettled(&self) -> Option<u64> {
        let next = self.next_block?;
        Some(self.final_block.map_or(next, |last| next.min(last + 1)))
    }

    pub(super) async fn of_work(table: &Table, work: &str) -> Result<Self, StoreError> {
        Ok(table.get(&Self::key(work)).await?.unwrap_or_default())
    }

    pub(super) fn replacement(&self, table: &Table, work: &str) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&table.name).set_item(Some(row(&Self::key(work), self)?));
        let put = match self.version {
            1 => put.condition_expression("attribute_not_exists(pk)"),
            version => put
                .condition_expression("#version = :before")
                .expression_attribute_names("#version", "version")
                .expression_attribute_values(":before", number(version - 1)),
        };
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }

    fn key(work: &str) -> PrimaryKey {
        rows::checkpoint(work)
    }
}

impl Batch {
    /// Returns the batches that are kept, the oldest first. One Query per megabyte.
    pub(super) async fn all(table: &Table, work: &str) -> Result<Vec<Self>, StoreError> {
        let call = table
            .client
            .query()
            .table_name(&table.name)
            .key_condition_expression("pk = :batches")
            .expression_attribute_values(":batches", text(rows::batches(work)))
            .consistent_read(true);
        let items = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        Ok(serde_dynamo::from_items(items)?)
    }

    pub(super) fn key(&self, work: &str) -> PrimaryKey {
        rows::batch(work, self.serial)
    }

    /// Keys of the journal's rows, each in a partition of its own: one partition takes 1,000 write units a second.
    pub(super) fn chunk_keys(&self, work: &str) -> impl Iterator<Item = PrimaryKey> + use<> {
        let (work, writer, batch) = (work.to_owned(), self.writer.clone(), self.serial);
        (0..self.chunks).map(move |chunk| rows::images(&work, &writer, batch, chunk))
    }

    /// Keys of the rows with its images: its own row, if it has no others.
    pub(super) fn image_keys(&self, work: &str) -> impl Iterator<Item = PrimaryKey> + use<> {
        let own = (self.chunks == 0).then(|| self.key(work));
        own.into_iter().chain(self.chunk_keys(work))
    }

    /// Keys of all rows of the batch.
    pub(super) fn keys(&self, work: &str) -> impl Iterator<Item = PrimaryKey> + use<> {
        std::iter::once(self.key(work)).chain(self.chunk_keys(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_settled_when_they_are_indexed_and_final() {
        let progress = |next_block, final_block| Progress { next_block, final_block, ..Progress::default() };
        for (next, last, expected) in [
            (None, None, None),
            (None, Some(9), None),
            (Some(5), None, Some(5)),
            (Some(5), Some(9), Some(5)),
            (Some(12), Some(9), Some(10)),
        ] {
            assert_eq!(progress(next, last).first_unsettled(), expected, "{next:?} {last:?}");
        }
    }
}
