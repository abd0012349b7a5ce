//! `GET /transactions/{id}`: one of the caller's transactions and what became of it.

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
use transactions::read_transaction::ReadTransactionPath;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadTransaction>().await
}

struct ReadTransaction {
    callers: CallerAuthenticator,
    transactions: Transactions,
}

impl Endpoint for ReadTransaction {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let callers = CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?;
        Ok(Self { callers, transactions: Transactions::new(ArtistTable::from_env(&aws)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate(request, clock::now()?).await?;
        let ReadTransactionPath { id } = request.path_parameters().read()?;
        let transaction = self.transactions.get(artist, id).await?;
        let transaction = transaction.ok_or_else(|| ApiError::not_found(format!("You have no transaction {id}")))?;
        Response::json(&TransactionView::of(transaction)?)
    }
}
