//! How far a chain is read, and which of its latest batches can be undone.
//!
//! `pk = CHECKPOINT#<chain>`, `sk = CHECKPOINT`. Every write of the row is conditional on the version read before.

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use super::super::{Key, StoreError, Table, number, row};
use crate::model::ChainId;

/// A block, as the chain had it when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockId {
    /// Its number.
    pub number: u64,
    /// Its hash, which stands for every block before it too.
    pub hash: B256,
}

/// How far a chain is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Counts the writes of this row.
    pub(super) version: u64,
    /// First block that isn't read yet; `None` before the first.
    pub next_block: Option<u64>,
    /// Last block that can't be undone any more.
    pub final_block: Option<u64>,
    /// Last block of the newest batch that can't be undone any more.
    pub(super) anchor: Option<BlockId>,
    /// The batches that can be undone, the oldest first.
    pub(super) batches: Vec<Batch>,
    /// Work under way that must be undone if it isn't finished.
    pub(super) pending: Option<Pending>,
}

/// Blocks whose changes were written together; or what was changed after a block, apart from any: then it has no blocks,
/// and `first` comes after `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    /// Which one it is: later ones have larger numbers.
    pub(super) serial: u64,
    /// First of the blocks.
    pub(super) first: u64,
    /// Last of them: once it is undone, so is the batch.
    pub(super) last: BlockId,
    /// How many rows of the journal hold what rows were before.
    pub(super) chunks: u32,
}

/// Changes that aren't all written yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The first of the batches to undo.
    pub(super) undo_from: u64,
    /// Who writes them.
    pub(super) owner: String,
    /// Unix time in seconds from which on they certainly don't any more.
    pub(super) until: u64,
}

impl Progress {
    /// How far a chain is read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn of(table: &Table, chain: ChainId) -> Result<Self, StoreError> {
        Self::of_work(table, &chain.to_string()).await
    }

    /// How far other work has come.
    pub(super) async fn of_work(table: &Table, work: &str) -> Result<Self, StoreError> {
        Ok(table.get(&Self::key(work)).await?.unwrap_or_default())
    }

    /// The blocks to compare with the chain, the newest first: where the chain still has one of them, everything up to
    /// it stands. The last of them can't be undone.
    pub fn milestones(&self) -> impl Iterator<Item = BlockId> {
        self.batches.iter().rev().map(|batch| batch.last).chain(self.anchor)
    }

    /// First block of everything that can be undone; `None` when nothing can.
    pub fn first_undoable(&self) -> Option<u64> {
        self.batches.first().map(|batch| batch.first)
    }

    /// Whether there are blocks that can't be undone any more.
    pub fn is_anchored(&self) -> bool {
        self.anchor.is_some()
    }

    /// The write that puts this in place of the version before it.
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

    fn key(work: &str) -> Key {
        Key::new(format!("CHECKPOINT#{work}"), "CHECKPOINT")
    }
}
