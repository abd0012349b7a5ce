use shared::api::transact::TransactionView;

use super::ReadTransactionPath;

/// Read a transaction
///
/// Your own only. Its status is `queued`, then `sent`, and in the end `mined`, `reverted` or `failed`; kept for 90 days.
#[utoipa::path(
    get,
    path = "/transactions/{id}",
    tag = "Transactions",
    security(("token" = []), ("apiKey" = [])),
    params(ReadTransactionPath),
    responses((status = 200, description = "The transaction.", body = TransactionView)),
)]
fn read_transaction() {}

openapi::published!(read_transaction, 404);
