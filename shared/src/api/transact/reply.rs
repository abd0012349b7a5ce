//! Answers to writes, at once or to a retry.

use std::time::Duration;

use alloy::{primitives::B256, rpc::types::TransactionReceipt};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    chain::{
        Chain,
        node::NodeError,
        transaction::{CLAIM_LIFETIME, Confirmation, Outcome, TransactionSender},
    },
    http::ApiError,
    model::ChainId,
    store::{Answer, Status, Transaction},
    telemetry::{self, Metric},
};

/// Reads further fields of an answer from a receipt; `None` if they aren't there.
pub type ReceiptFields = fn(&Chain, &TransactionReceipt) -> Option<Map<String, Value>>;

/// Longest wait for a receipt; a slower transaction is answered with its hash.
const PATIENCE: Duration = Duration::from_secs(8);
/// The same where the answer needs the receipt.
const RECEIPT_PATIENCE: Duration = Duration::from_secs(20);

/// Form of the answer.
#[derive(Clone, Copy)]
pub enum ReplyFormat {
    /// Hash and chain, mined or not.
    Hash,
    /// With fields from the receipt; 202 and the hash until there is one.
    Receipt(ReceiptFields),
    /// A list of hashes and chains.
    Each,
}

/// Several transactions.
#[derive(Serialize, ToSchema)]
pub struct WritesResponse<'a> {
    /// `success`.
    message: &'static str,
    /// The transactions, in the order of sending.
    results: &'a [SentTransaction],
}

/// A transaction with fields from its receipt.
#[derive(Serialize, ToSchema)]
pub struct WriteResponse<F> {
    #[serde(flatten)]
    transaction: SentTransaction,
    #[serde(flatten)]
    fields: F,
}

/// A sent transaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Transaction)]
pub struct SentTransaction {
    /// Its hash.
    #[schema(
        value_type = String,
        pattern = "^0x[0-9a-f]{64}$",
        examples("0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f")
    )]
    hash: B256,
    /// Its chain.
    chain_id: ChainId,
}

impl ReplyFormat {
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::Hash | Self::Each => PATIENCE,
            Self::Receipt(_) => RECEIPT_PATIENCE,
        }
    }

    /// Whether a retry resumes an interrupted request.
    pub(super) fn is_resumed(self, transaction: &Transaction, now: u64) -> bool {
        matches!(self, Self::Each) && transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now
    }

    /// The answer to a write that was just sent.
    pub(super) fn tell(self, chain: &Chain, outcome: &Outcome) -> Answer {
        match &outcome.end {
            Confirmation::Mined(receipt) => ended("mined", self.mined(chain, receipt)),
            Confirmation::Pending { .. } => ended("pending", self.pending(chain, outcome.hash)),
            Confirmation::Reverted(reason, _) => ended("reverted", refused(&ApiError::unprocessable(reason))),
        }
    }

    fn mined(self, chain: &Chain, receipt: &TransactionReceipt) -> Answer {
        let fields = match self {
            Self::Hash | Self::Each => Map::new(),
            Self::Receipt(find) => match find(chain, receipt) {
                Some(fields) => fields,
                // The transaction can't be undone, so its hash is the answer.
                None => return accepted(202, receipt.transaction_hash, chain.id, Map::new()),
            },
        };
        accepted(200, receipt.transaction_hash, chain.id, fields)
    }

    fn pending(self, chain: &Chain, hash: B256) -> Answer {
        let status = if matches!(self, Self::Receipt(_)) { 202 } else { 200 };
        accepted(status, hash, chain.id, Map::new())
    }

    /// The answer to a retry of an interrupted request; `None` while that may still run, or its transaction is being given
    /// up.
    pub(super) async fn late(
        self,
        sender: &TransactionSender,
        transaction: &Transaction,
        now: u64,
    ) -> Result<Option<Answer>, NodeError> {
        let failure = match transaction.status {
            Status::Reverted => Some("The transaction failed on the chain"),
            Status::Filled => Some("The chain's nodes refused the transaction: nothing was done"),
            _ => None,
        };
        if let Some(failure) = failure {
            return Ok(Some(refused(&ApiError::unprocessable(failure))));
        }
        let Some(hash) = self.late_hash(transaction, now) else { return Ok(None) };
        let receipt = match self {
            Self::Hash | Self::Each => None,
            Self::Receipt(_) => sender.node().receipt(hash).await?.filter(TransactionReceipt::status),
        };
        Ok(Some(match receipt {
            Some(receipt) => self.mined(sender.chain(), &receipt),
            None => self.pending(sender.chain(), hash),
        }))
    }

    fn late_hash(self, transaction: &Transaction, now: u64) -> Option<B256> {
        let is_over = transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now;
        match transaction.status {
            Status::Mined => transaction.mined.map(|mined| mined.hash),
            // A client who needs the receipt got 202 by then, and retries.
            Status::Broadcast if is_over || matches!(self, Self::Receipt(_)) => transaction.hashes.last().copied(),
            Status::Signed if is_over => transaction.hashes.last().copied(),
            _ => None,
        }
    }
}

impl SentTransaction {
    pub(super) fn new(chain_id: ChainId, hash: B256) -> Self {
        Self { hash, chain_id }
    }
}

pub(super) fn all_sent(results: &[SentTransaction]) -> Answer {
    let body = serde_json::to_string(&WritesResponse { message: "success", results }).unwrap_or_default();
    Answer { status: 200, body }
}

/// Counts a write by its outcome, and returns its answer.
pub(super) fn ended<T>(outcome: &str, answer: T) -> T {
    telemetry::record(&[("Outcome", outcome)], &[(Metric::Writes, 1)]);
    answer
}

fn accepted(status: u16, hash: B256, chain_id: ChainId, fields: Map<String, Value>) -> Answer {
    let response = WriteResponse { transaction: SentTransaction::new(chain_id, hash), fields };
    let body = serde_json::to_string(&response).unwrap_or_default();
    Answer { status, body }
}

fn refused(error: &ApiError) -> Answer {
    Answer { status: error.status().as_u16(), body: error.body() }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Address, Bytes};

    use super::*;
    use crate::{
        model::ArtistId,
        store::{Intent, MinedIn, Slot},
    };

    fn transaction(status: Status) -> Transaction {
        Transaction {
            slot: Slot { chain: ChainId(1), lane: Address::ZERO.into(), nonce: 0 },
            artist_id: ArtistId::random(),
            intent: Intent { to: Address::ZERO, data: Bytes::new(), gas_limit: 0 },
            deploys_account: false,
            replay: None,
            status,
            attempt: None,
            hashes: vec![B256::repeat_byte(1), B256::repeat_byte(2)],
            filler_hashes: Vec::new(),
            mined: Some(MinedIn { hash: B256::repeat_byte(1), block: 1, gas_used: 1 }),
            is_moved: false,
            claimed_at: 1_000,
        }
    }

    #[test]
    fn a_retry_of_an_interrupted_request_is_answered_once_its_outcome_is_known() {
        let (soon, later) = (1_001, 1_001 + CLAIM_LIFETIME.as_secs());
        let hash = |format: ReplyFormat, status, now| format.late_hash(&transaction(status), now);
        let (first, last) = (Some(B256::repeat_byte(1)), Some(B256::repeat_byte(2)));
        let receipt = ReplyFormat::Receipt(|_, _| None);
        for format in [ReplyFormat::Hash, receipt] {
            assert_eq!(hash(format, Status::Mined, soon), first);
            assert_eq!(hash(format, Status::Broadcast, later), last);
            assert_eq!(hash(format, Status::Signed, later), last);
            assert_eq!(hash(format, Status::Signed, soon), None);
            for status in [Status::Claimed, Status::Abandoned] {
                assert_eq!(hash(format, status, later), None, "{status:?}");
            }
        }
        assert_eq!(hash(ReplyFormat::Hash, Status::Broadcast, soon), None, "its request may still run");
        assert_eq!(hash(receipt, Status::Broadcast, soon), last);
    }
}
