//! Batches that `local/sam/restore` lists for the relay: their transactions' rows were lost while they were under way,
//! and restored, and their lanes know nothing of them.

use serde::Deserialize;

use super::{
    batch::{Batch, Slot},
    transaction::Transactions,
};
use crate::{
    model::ChainId,
    store::{artist::rows, engine::table::StoreError},
};

/// A batch that was under way when rows were lost.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RestoredBatch {
    /// The batch as the copy has it: it may have been sent with other fees since.
    pub batch: Batch,
    /// When its transactions' rows were restored, in Unix seconds: long after they were lost.
    pub restored_at: u64,
}

impl Transactions {
    /// All restored batches of a chain. A Query per megabyte.
    pub async fn restored(&self, chain: ChainId) -> Result<Vec<RestoredBatch>, StoreError> {
        self.table.partition(rows::restored_batches(chain)).await
    }

    /// Forgets a restored batch. One write.
    pub async fn forget_restored(&self, &Slot { chain, lane, nonce }: &Slot) -> Result<(), StoreError> {
        let deletion = self.table.deletion(&rows::restored_batch(chain, lane, nonce))?;
        self.table.write_together(vec![deletion]).await.map(drop)
    }
}
