//! Contract of `GET /transactions/{id}`.

use shared::api::transact::TransactionView;

use crate::TransactionPath;

/// Read a transaction
///
/// Your own only. Its status is `queued`, then `sent`, and in the end `mined`, `reverted`, `failed` or `cancelled`; kept for
/// 90 days.
#[utoipa::path(
    get,
    path = "/transactions/{id}",
    tag = "Transactions",
    security(("token" = []), ("apiKey" = [])),
    params(TransactionPath),
    responses((status = 200, description = "The transaction.", body = TransactionView)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_transaction() {}
