//! Contract of `GET /transactions/{id}`.

use shared::{api::transact::TransactionView, http::FromFields, model::TransactionId};
use utoipa::IntoParams;

/// A transaction.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ReadTransactionPath {
    /// Its id, as `Transaction-Id` has it.
    pub id: TransactionId,
}

/// Read a transaction
///
/// Your own only. Its status is `queued`, then `sent`, and in the end `mined`, `reverted`, `failed` or `cancelled`; kept for
/// 90 days.
#[utoipa::path(
    get,
    path = "/transactions/{id}",
    tag = "Transactions",
    security(("token" = []), ("apiKey" = [])),
    params(ReadTransactionPath),
    responses((status = 200, description = "The transaction.", body = TransactionView)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_transaction() {}
