use super::{ListTransactionsQuery, ListTransactionsResponse};

/// List your transactions
///
/// Newest first, on all chains.
#[utoipa::path(
    get,
    path = "/transactions",
    tag = "Transactions",
    security(("token" = []), ("apiKey" = [])),
    params(ListTransactionsQuery),
    responses((status = 200, description = "The page.", body = ListTransactionsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_transactions() {}

openapi::published!(list_transactions);
