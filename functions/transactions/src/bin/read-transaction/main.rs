//! `GET /transactions/{id}`: one of the caller's transactions and what became of it.

use shared::{
    api::transact::TransactionView,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use transactions::{OwnTransactions, read_transaction::ReadTransactionPath};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadTransaction>().await
}

struct ReadTransaction(OwnTransactions);

impl Endpoint for ReadTransaction {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(OwnTransactions::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let ReadTransactionPath { id } = request.path_parameters().read()?;
        let transaction = self.0.transactions.get(artist, id).await?;
        let transaction = transaction.ok_or_else(|| ApiError::not_found(format!("You have no transaction {id}")))?;
        Response::json(&TransactionView::of(transaction)?)
    }
}
