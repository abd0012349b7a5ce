use serde::Serialize;
use shared::model::ChainId;

/// What was done on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The chain.
    pub chain_id: ChainId,
    /// Batches sent.
    pub batches: usize,
    /// Transactions in them.
    pub transactions: usize,
    /// Transactions that ended.
    pub ended: usize,
    /// Batches replaced by one with higher fees.
    pub bumped: usize,
    /// Signatures made.
    pub signatures: usize,
}

impl Report {
    pub(crate) fn of(chain_id: ChainId) -> Self {
        Self { chain_id, batches: 0, transactions: 0, ended: 0, bumped: 0, signatures: 0 }
    }
}
