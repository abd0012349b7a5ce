//! `GET /transactions`: the caller's transactions, newest first.

use shared::{
    api::transact::TransactionView,
    auth::caller::CallerAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Transactions},
        secret::SecretTable,
    },
};
use transactions::list_transactions::{ListTransactionsQuery, ListTransactionsResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListTransactions>().await
}

struct ListTransactions {
    callers: CallerAuthenticator,
    transactions: Transactions,
}

impl Endpoint for ListTransactions {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let callers = CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?;
        Ok(Self { callers, transactions: Transactions::new(ArtistTable::from_env(&aws)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        let ListTransactionsQuery { limit, before } = request.query().read()?;
        let rows = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let page = self.transactions.list(artist, before, rows).await?;
        let last = page.transactions.last().map(|transaction| transaction.id).filter(|_| page.has_more);
        let transactions: Result<_, _> = page.transactions.into_iter().map(TransactionView::of).collect();
        let response = Response::json(&ListTransactionsResponse { status: "success", transactions: transactions? })?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
