//! Progress of a chain's indexing. Rows: docs/data-model.md, Indexer.

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    model::ChainId,
    store::table::{PrimaryKey, StoreError, Table, number, row},
};

/// A block as it was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockId {
    /// Block number.
    pub number: u64,
    /// Block hash, which commits to all blocks before it.
    pub hash: B256,
}

/// Progress of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub(super) version: u64,
    /// First unread block; `None` before the first run.
    pub next_block: Option<u64>,
    /// Last block that can't be undone.
    pub final_block: Option<u64>,
    pub(super) anchor: Option<BlockId>,
    pub(super) batches: Vec<Batch>,
    /// Set while a batch is half written.
    pub(super) pending: Option<Pending>,
}

/// Blocks whose changes were committed together. Changes between blocks have `first` after `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) serial: u64,
    pub(super) first: u64,
    /// Undoing this block undoes the batch.
    pub(super) last: BlockId,
    pub(super) chunks: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) undo_from: u64,
    pub(super) owner: String,
    pub(super) until: u64,
}

impl Progress {
    /// Reads the progress of a chain. One read.
    pub async fn of(table: &Table, chain: ChainId) -> Result<Self, StoreError> {
        Self::of_work(table, &chain.to_string()).await
    }

    pub(super) async fn of_work(table: &Table, work: &str) -> Result<Self, StoreError> {
        Ok(table.get(&Self::key(work)).await?.unwrap_or_default())
    }

    /// Returns blocks to compare with the chain, newest first: where one still matches, so do all before it.
    pub fn milestones(&self) -> impl Iterator<Item = BlockId> {
        self.batches.iter().rev().map(|batch| batch.last).chain(self.anchor)
    }

    /// Returns the first block that can be undone.
    pub fn first_undoable(&self) -> Option<u64> {
        self.batches.first().map(|batch| batch.first)
    }

    /// Returns whether any indexed block is final.
    pub fn is_anchored(&self) -> bool {
        self.anchor.is_some()
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
        PrimaryKey::new(format!("CHECKPOINT#{work}"), "CHECKPOINT")
    }
}
