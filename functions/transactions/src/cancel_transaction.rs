//! Contract of `DELETE /transactions/{id}`.

use serde::Serialize;
use shared::model::{TransactionId, TransactionStatus};
use utoipa::ToSchema;

use crate::TransactionPath;

/// A cancelled transaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelTransactionResponse {
    /// Its id.
    pub transaction_id: TransactionId,
    /// `cancelled`.
    pub status: TransactionStatus,
}

/// Cancel a transaction
///
/// Your own only, and an API key's own; while it is `queued` and was never sent. Nothing of it will be done, and its part
/// of your budget is free again. Later it is 409, which says what became of it.
#[utoipa::path(
    delete,
    path = "/transactions/{id}",
    tag = "Transactions",
    security(("token" = []), ("apiKey" = [])),
    params(TransactionPath),
    responses((status = 200, description = "It is cancelled.", body = CancelTransactionResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn cancel_transaction() {}
