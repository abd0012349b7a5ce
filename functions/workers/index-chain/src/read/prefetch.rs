//! Final ranges that are read before their turn.

use alloy::rpc::types::Log;
use shared::chain::node::{BlockFacts, Node, NodeError};
use tokio::task::{JoinError, JoinHandle};

use super::logs::{Parts, in_range};

/// Most final ranges that are read concurrently.
pub const MAX_PREFETCHED: usize = 4;

/// A final range as a node has it.
pub struct RangeLogs {
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

/// Why a prefetched range failed.
#[derive(Debug, thiserror::Error)]
pub enum PrefetchError {
    /// The node failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The task died.
    #[error(transparent)]
    Task(#[from] JoinError),
}

/// A range that is being read, whether or not it is waited for. Dropping it ends its requests.
pub struct Prefetched {
    task: JoinHandle<Result<RangeLogs, NodeError>>,
    /// Number of collections that were known when it was asked for, of those created since reading began.
    pub known: usize,
}

impl RangeLogs {
    /// Asks a node for the blocks from `first` to `end`.
    pub async fn read(node: Node, first: u64, end: u64, parts: Parts) -> Result<Self, NodeError> {
        let (mut calls, is_by_address) = (1, parts.is_by_address);
        let last = node.block(end).await?;
        let logs = in_range(&node, (first, end), parts, &mut calls).await?;
        Ok(Self { first, last, logs, is_by_address, calls })
    }
}

impl Prefetched {
    /// Starts to read.
    pub fn start(node: Node, (first, end): (u64, u64), parts: Parts, known: usize) -> Self {
        Self { task: tokio::spawn(RangeLogs::read(node, first, end, parts)), known }
    }

    /// Waits for the range.
    pub async fn wait(mut self) -> Result<RangeLogs, PrefetchError> {
        Ok((&mut self.task).await??)
    }
}

impl Drop for Prefetched {
    fn drop(&mut self) {
        self.task.abort();
    }
}
