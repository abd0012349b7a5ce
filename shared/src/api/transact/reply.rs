//! Answers to writes, at once or to a retry: what is true then.

use alloy::primitives::B256;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::{
    http::{ApiError, Request, Response},
    model::{ChainId, TransactionId, TransactionStatus},
    store::artist::Transaction,
    telemetry::{self, Metric},
};

/// Seconds after which a pending transaction is worth another look.
const RETRY_AFTER: &str = "2";

/// Form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyForm {
    /// One transaction.
    One,
    /// A list of transactions.
    Each,
}

/// Several mined transactions.
#[derive(Serialize, ToSchema)]
pub struct WritesResponse {
    /// That all are mined.
    #[schema(pattern = "^success$")]
    message: &'static str,
    /// The transactions, in the order of sending.
    results: Vec<SentTransaction>,
}

/// Several transactions, not all of them mined yet.
#[derive(Serialize, ToSchema)]
pub struct WritesInProgressResponse {
    /// That some aren't mined yet.
    #[schema(pattern = "^accepted$")]
    message: &'static str,
    /// The mined transactions.
    results: Vec<SentTransaction>,
    /// The others.
    pending: Vec<PendingTransaction>,
}

/// A mined transaction with what it created.
#[derive(Serialize, ToSchema)]
pub struct WriteResponse<F> {
    #[serde(flatten)]
    transaction: SentTransaction,
    #[serde(flatten)]
    fields: F,
}

/// A mined transaction.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MinedTransaction)]
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

/// A transaction that isn't mined yet. `GET /transactions/{id}` tells its outcome.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingTransaction {
    /// Its id.
    transaction_id: TransactionId,
    /// `queued` or `sent`.
    status: TransactionStatus,
    /// Hash that it was sent with last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = Option<String>,
        pattern = "^0x[0-9a-f]{64}$",
        examples("0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f")
    )]
    hash: Option<B256>,
    /// Its chain.
    chain_id: ChainId,
}

impl ReplyForm {
    /// The answer for transactions as they stand, in their order.
    pub(super) fn reply(self, request: &Request, transactions: &[Transaction]) -> Result<Response, ApiError> {
        for transaction in transactions {
            count(transaction.status);
        }
        let ids: Vec<_> = transactions.iter().map(|transaction| transaction.id.to_string()).collect();
        let ids = ids.join(", ");
        let reply = match (self, transactions) {
            (Self::One, [transaction]) => reply_with_one(request, transaction),
            _ => reply_with_each(request, transactions),
        };
        match reply {
            Ok(response) if ids.is_empty() => Ok(response),
            Ok(response) => response.with("transaction-id", &ids),
            Err(error) => Err(error.with("transaction-id", &ids)),
        }
    }
}

fn reply_with_one(request: &Request, transaction: &Transaction) -> Result<Response, ApiError> {
    if let Some(sent) = SentTransaction::of(transaction) {
        let fields = transaction.result.clone();
        return Response::json(&WriteResponse { transaction: sent, fields });
    }
    if transaction.status.is_final() {
        return Err(failure(transaction));
    }
    let location = format!("{}/transactions/{}", request.stage(), transaction.id);
    accepted(&location, &PendingTransaction::of(transaction))
}

fn reply_with_each(request: &Request, transactions: &[Transaction]) -> Result<Response, ApiError> {
    let results: Vec<_> = transactions.iter().filter_map(SentTransaction::of).collect();
    if let Some(error) = failure_of_some(transactions, &results) {
        return Err(error);
    }
    let open = transactions.iter().filter(|transaction| !transaction.status.is_final());
    let pending: Vec<_> = open.map(PendingTransaction::of).collect();
    if pending.is_empty() {
        return Response::json(&WritesResponse { message: "success", results });
    }
    let location = format!("{}/transactions", request.stage());
    accepted(&location, &WritesInProgressResponse { message: "accepted", results, pending })
}

fn failure_of_some(transactions: &[Transaction], results: &[SentTransaction]) -> Option<ApiError> {
    let failed = transactions.iter().find(|transaction| transaction.status.is_failure())?;
    let is_begun = transactions.iter().any(|transaction| !transaction.status.is_failure());
    Some(failure(failed).in_part("Ask again to go on", "results", json!(results), is_begun))
}

fn accepted(location: &str, body: &impl Serialize) -> Result<Response, ApiError> {
    let response = Response::stored(202, serde_json::to_string(body)?)?;
    response.with("location", location)?.with("retry-after", RETRY_AFTER)
}

pub(super) fn failure(transaction: &Transaction) -> ApiError {
    let reason = transaction.reason.as_deref().unwrap_or("The transaction failed on the chain");
    ApiError::unprocessable(reason)
}

impl SentTransaction {
    fn of(transaction: &Transaction) -> Option<Self> {
        let mined = transaction.mined.filter(|_| transaction.status == TransactionStatus::Mined)?;
        Some(Self { hash: mined.hash, chain_id: transaction.chain })
    }
}

impl PendingTransaction {
    fn of(transaction: &Transaction) -> Self {
        let Transaction { id, status, ref hashes, chain, .. } = *transaction;
        Self { transaction_id: id, status, hash: hashes.last().copied(), chain_id: chain }
    }
}

pub(super) fn count(status: TransactionStatus) {
    match status {
        TransactionStatus::Queued | TransactionStatus::Sent => ended("pending"),
        TransactionStatus::Mined => ended("mined"),
        TransactionStatus::Reverted => ended("reverted"),
        TransactionStatus::Failed => ended("failed"),
        TransactionStatus::Cancelled => ended("cancelled"),
    }
}

/// Counts a write by its outcome.
pub(super) fn ended(outcome: &str) {
    telemetry::record(&[("Outcome", outcome)], &[(Metric::Writes, 1)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, ArtistId};

    fn transaction(status: TransactionStatus) -> Transaction {
        let row = json!({
            "transaction_id": TransactionId::new(), "artist_id": ArtistId::random(), "chain": 8453,
            "account": Address::ZERO, "plan": r#"{"plan":"calls","calls":[]}"#, "gas": 0, "creation": "nothing",
            "status": status, "place": "", "charge": {"wei": 0, "day": 0, "pool": "regulars", "shard": 0},
            "created_at": 0, "updated_at": 0, "expires_at": 0,
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn a_failure_beside_others_says_whether_they_are_done_or_may_still_be() {
        use TransactionStatus::{Cancelled, Mined, Reverted, Sent};
        for (statuses, is_begun) in [
            ([Mined, Reverted], true),
            ([Cancelled, Mined], true),
            ([Cancelled, Sent], true),
            ([Cancelled, Reverted], false),
        ] {
            let error = failure_of_some(&statuses.map(transaction), &[]).unwrap();
            assert_eq!(error.is_begun(), is_begun, "{statuses:?}");
        }
        assert!(failure_of_some(&[Mined, Sent].map(transaction), &[]).is_none());
    }
}
