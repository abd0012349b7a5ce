//! `GET /transactions`: the caller's transactions, newest first.

use shared::{
    api::transact::TransactionView,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use transactions::{
    OwnTransactions,
    list_transactions::{ListTransactionsQuery, ListTransactionsResponse},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListTransactions>().await
}

struct ListTransactions(OwnTransactions);

impl Endpoint for ListTransactions {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(OwnTransactions::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let ListTransactionsQuery { limit, before } = request.query().read()?;
        let rows = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let mut page = self.0.transactions.list(artist, before, rows).await?;
        self.0.transactions.add_hashes(&mut page.transactions).await?;
        let last = page.transactions.last().map(|transaction| transaction.id).filter(|_| page.has_more);
        let transactions: Result<_, _> = page.transactions.into_iter().map(TransactionView::of).collect();
        let response = Response::json(&ListTransactionsResponse { status: "success", transactions: transactions? })?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
