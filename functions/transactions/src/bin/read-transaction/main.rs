//! `GET /transactions/{id}`: one of the caller's transactions and what became of it.

#[cfg(test)]
mod description;

use shared::{
    api::transact::TransactionView,
    auth::caller::CallerAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::TransactionId,
    store::{
        artist::{ArtistTable, Transactions},
        secret::SecretTable,
    },
};
use utoipa::IntoParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadTransaction>().await
}

struct ReadTransaction {
    callers: CallerAuthenticator,
    transactions: Transactions,
}

/// A transaction.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
struct ReadTransactionPath {
    /// Its id, as `Transaction-Id` has it.
    id: TransactionId,
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
