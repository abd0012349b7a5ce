//! How a write's transaction is told to the client: at once, or when the request comes again.

use std::time::Duration;

use alloy::{primitives::B256, rpc::types::TransactionReceipt};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    chain::{
        Chain,
        engine::{CLAIM_LIFETIME, End, Engine, Outcome},
        node::NodeError,
    },
    http::ApiError,
    model::ChainId,
    store::{Answer, Status, Transaction},
    telemetry::{self, Metric},
};

/// What a write is answered besides its hash and chain, read from its receipt; `None` where it isn't there.
pub type Findings = fn(&Chain, &TransactionReceipt) -> Option<Map<String, Value>>;

/// How long a receipt is waited for. What takes longer is answered with its hash.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long a receipt is waited for where the answer is in it.
const FINDING_PATIENCE: Duration = Duration::from_secs(20);

/// How the transaction is told to the client.
#[derive(Clone, Copy)]
pub enum Wording {
    /// By its hash and chain alone, mined or not.
    Hash,
    /// With what its receipt says; 202 and the hash until there is one.
    Receipt(Findings),
    /// As one of several, each by its hash and chain.
    Each,
}

/// What several writes are answered.
#[derive(Serialize, ToSchema)]
pub struct WritesResponse<'a> {
    /// `success`.
    message: &'static str,
    /// The transactions, in the order in which they were sent.
    results: &'a [SentTransaction],
}

/// What a write is answered: its transaction, and what was found in its receipt.
#[derive(Serialize, ToSchema)]
pub struct WriteResponse<F> {
    #[serde(flatten)]
    transaction: SentTransaction,
    #[serde(flatten)]
    findings: F,
}

/// The transaction that did what was asked for.
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

impl Wording {
    /// How long a receipt is waited for.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::Hash | Self::Each => PATIENCE,
            Self::Receipt(_) => FINDING_PATIENCE,
        }
    }

    /// Whether a request that ended before it was answered is to be gone on with when it comes again.
    pub(super) fn is_resumed(self, transaction: &Transaction, now: u64) -> bool {
        matches!(self, Self::Each) && transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now
    }

    /// What the client is told of a write that has just been made.
    pub(super) fn tell(self, chain: &Chain, outcome: &Outcome) -> Answer {
        match &outcome.end {
            End::Mined(receipt) => ended("mined", self.mined(chain, receipt)),
            End::Pending { .. } => ended("pending", self.pending(chain, outcome.hash)),
            End::Reverted(reason, _) => ended("reverted", refused(&ApiError::unprocessable(reason))),
        }
    }

    fn mined(self, chain: &Chain, receipt: &TransactionReceipt) -> Answer {
        let findings = match self {
            Self::Hash | Self::Each => Map::new(),
            Self::Receipt(findings) => match findings(chain, receipt) {
                Some(findings) => findings,
                // The transaction is done and can't be undone; its hash is what there is to tell.
                None => return accepted(202, receipt.transaction_hash, chain.id, Map::new()),
            },
        };
        accepted(200, receipt.transaction_hash, chain.id, findings)
    }

    fn pending(self, chain: &Chain, hash: B256) -> Answer {
        let status = if matches!(self, Self::Receipt(_)) { 202 } else { 200 };
        accepted(status, hash, chain.id, Map::new())
    }

    /// What a request that ended before it was answered is answered when it comes again; `None` while it may still run,
    /// or its transaction is being given up.
    pub(super) async fn late(
        self,
        engine: &Engine,
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
            Self::Receipt(_) => engine.node().receipt(hash).await?.filter(TransactionReceipt::status),
        };
        Ok(Some(match receipt {
            Some(receipt) => self.mined(engine.chain(), &receipt),
            None => self.pending(engine.chain(), hash),
        }))
    }

    /// The hash of a transaction whose request is over.
    fn late_hash(self, transaction: &Transaction, now: u64) -> Option<B256> {
        let is_over = transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now;
        match transaction.status {
            Status::Mined => transaction.mined.map(|mined| mined.hash),
            // Whoever wants more than the hash was answered 202 by then, and asks again.
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

/// The answer to a request for several writes.
pub(super) fn all_sent(results: &[SentTransaction]) -> Answer {
    let body = serde_json::to_string(&WritesResponse { message: "success", results }).unwrap_or_default();
    Answer { status: 200, body }
}

/// Counts a write by its outcome, and passes on what it is answered.
pub(super) fn ended<T>(outcome: &str, answer: T) -> T {
    telemetry::record(&[("Outcome", outcome)], &[(Metric::Writes, 1)]);
    answer
}

fn accepted(status: u16, hash: B256, chain_id: ChainId, findings: Map<String, Value>) -> Answer {
    let response = WriteResponse { transaction: SentTransaction::new(chain_id, hash), findings };
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
    fn a_request_that_ended_unanswered_is_answered_once_its_end_is_known() {
        let (soon, later) = (1_001, 1_001 + CLAIM_LIFETIME.as_secs());
        let hash = |wording: Wording, status, now| wording.late_hash(&transaction(status), now);
        let (first, last) = (Some(B256::repeat_byte(1)), Some(B256::repeat_byte(2)));
        let finding = Wording::Receipt(|_, _| None);
        for wording in [Wording::Hash, finding] {
            assert_eq!(hash(wording, Status::Mined, soon), first);
            assert_eq!(hash(wording, Status::Broadcast, later), last);
            assert_eq!(hash(wording, Status::Signed, later), last);
            assert_eq!(hash(wording, Status::Signed, soon), None);
            for status in [Status::Claimed, Status::Abandoned] {
                assert_eq!(hash(wording, status, later), None, "{status:?}");
            }
        }
        assert_eq!(hash(Wording::Hash, Status::Broadcast, soon), None, "its request may still be answered");
        assert_eq!(hash(finding, Status::Broadcast, soon), last);
    }
}
