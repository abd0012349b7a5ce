//! Contract of `GET /transactions`.

use serde::Serialize;
use shared::{
    api::transact::TransactionView,
    http::FromFields,
    model::{PageLimit, TransactionId},
};
use utoipa::{IntoParams, ToSchema};

/// A part of the list.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListTransactionsQuery {
    /// How many transactions a page has.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// The last id of the page before; the newest transactions by default.
    pub before: Option<TransactionId>,
}

/// A page of transactions.
#[derive(Serialize, ToSchema)]
pub struct ListTransactionsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub transactions: Vec<TransactionView>,
}

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
pub fn list_transactions() {}
