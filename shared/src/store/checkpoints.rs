//! How far each chain is read, in the table of what the chain can rebuild.
//!
//! `pk = CHECKPOINT#<chain>`, `sk = CHECKPOINT`.

use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, number, unless_refused};
use crate::model::ChainId;

/// The checkpoints of all chains.
#[derive(Clone)]
pub struct Checkpoints(Table);

#[derive(Serialize, Deserialize)]
struct CheckpointRow {
    next_block: u64,
}

impl Checkpoints {
    /// The checkpoints in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// The first block that isn't read yet; `None` before the first.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn next_block(&self, chain: ChainId) -> Result<Option<u64>, StoreError> {
        let row: Option<CheckpointRow> = self.0.get(&key(chain)).await?;
        Ok(row.map(|row| row.next_block))
    }

    /// Moves the checkpoint to `next`, if it still is where `from` says. `false` when someone else moved it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn advance(&self, chain: ChainId, from: Option<u64>, next: u64) -> Result<bool, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(key(chain).item()))
            .update_expression("SET next_block = :next")
            .expression_attribute_values(":next", number(next));
        let call = match from {
            Some(from) => {
                call.condition_expression("next_block = :from").expression_attribute_values(":from", number(from))
            }
            None => call.condition_expression("attribute_not_exists(pk)"),
        };
        Ok(unless_refused(call.send().await)?.is_some())
    }
}

fn key(chain: ChainId) -> Key {
    Key::new(format!("CHECKPOINT#{chain}"), "CHECKPOINT")
}
