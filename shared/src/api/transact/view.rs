use alloy::primitives::B256;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    clock,
    model::{ChainId, TransactionId, TransactionStatus},
    store::artist::Transaction,
};

/// A transaction of an artist and what became of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Transaction)]
pub struct TransactionView {
    id: TransactionId,
    status: TransactionStatus,
    /// The one that was mined, or else that it was sent with last; null until it is sent.
    #[schema(value_type = Option<String>, required, pattern = "^0x[0-9a-f]{64}$")]
    hash: Option<B256>,
    /// All that it was sent with, oldest first: with higher fees, or with others again.
    #[schema(value_type = Vec<String>)]
    hashes: Vec<B256>,
    #[serde(rename = "chainId")]
    chain_id: ChainId,
    /// Block that has it; null until it is mined.
    #[schema(required)]
    block: Option<u64>,
    /// Gas that its own calls used; null until it is mined.
    #[serde(rename = "gasUsed")]
    #[schema(required)]
    gas_used: Option<u64>,
    /// Why nothing was done, for `reverted`, `failed` and `cancelled`; null otherwise.
    #[schema(required)]
    reason: Option<String>,
    /// What it created, as the answer of its endpoint names it.
    #[schema(value_type = Object)]
    result: Map<String, Value>,
    /// When it ends unsent, unless it is sent before; ISO 8601.
    #[serde(rename = "validUntil")]
    #[schema(required)]
    valid_until: Option<String>,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
}

impl TransactionView {
    /// Shows a transaction. Fails for a time beyond the year 9999.
    pub fn of(transaction: Transaction) -> Result<Self, time::Error> {
        let mined = transaction.mined;
        Ok(Self {
            id: transaction.id,
            status: transaction.status,
            hash: mined.map(|mined| mined.hash).or_else(|| transaction.hashes.last().copied()),
            chain_id: transaction.chain,
            block: mined.map(|mined| mined.block),
            gas_used: mined.map(|mined| mined.gas_used),
            valid_until: transaction.valid_until.map(clock::iso_8601).transpose()?,
            created_at: clock::iso_8601(transaction.created_at)?,
            updated_at: clock::iso_8601(transaction.updated_at)?,
            hashes: transaction.hashes,
            reason: transaction.reason,
            result: transaction.result,
        })
    }
}
