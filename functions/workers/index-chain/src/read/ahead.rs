//! Final ranges that are asked for before their turn.

use alloy::rpc::types::Log;
use shared::chain::node::{BlockFacts, Node, NodeError};
use tokio::task::{JoinError, JoinHandle};

use super::logs::{Parts, in_range};

/// Most final ranges that are read at once.
pub const AT_ONCE: usize = 4;

/// What a node has of a final range.
pub struct Given {
    /// The first block.
    pub first: u64,
    /// Header of the last block.
    pub last: BlockFacts,
    /// Logs of the collections that were asked for.
    pub logs: Vec<Log>,
    /// Whether others' logs weren't asked for.
    pub is_by_address: bool,
    /// Requests that it took.
    pub calls: u64,
}

/// Why nothing was given.
#[derive(Debug, thiserror::Error)]
pub enum NotGiven {
    /// The node failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The task died.
    #[error(transparent)]
    Task(#[from] JoinError),
}

/// A range on its way. It comes whether or not it is waited for; dropping it ends its requests.
pub struct Coming {
    task: JoinHandle<Result<Given, NodeError>>,
    /// Number of collections that were known when it was asked for, of those created since reading began.
    pub known: usize,
}

impl Given {
    /// Asks a node for the blocks from `first` to `end`.
    pub async fn by(node: Node, first: u64, end: u64, parts: Parts) -> Result<Self, NodeError> {
        let (mut calls, is_by_address) = (1, parts.is_by_address);
        let last = node.block(end).await?;
        let logs = in_range(&node, (first, end), parts, &mut calls).await?;
        Ok(Self { first, last, logs, is_by_address, calls })
    }
}

impl Coming {
    /// Begins to ask.
    pub fn of(node: Node, (first, end): (u64, u64), parts: Parts, known: usize) -> Self {
        Self { task: tokio::spawn(Given::by(node, first, end, parts)), known }
    }

    /// Waits for the answer.
    pub async fn given(mut self) -> Result<Given, NotGiven> {
        Ok((&mut self.task).await??)
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.task.abort();
    }
}
