//! `GET /transactions/{id}`: one of the caller's transactions and what became of it.

use std::slice;

use shared::{
    api::transact::TransactionView,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use transactions::{OwnTransactions, TransactionPath};

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
        let TransactionPath { id } = request.path_parameters().read()?;
        let mut transaction = self.0.find(artist, id).await?;
        self.0.transactions.add_hashes(slice::from_mut(&mut transaction)).await?;
        Response::json(&TransactionView::of(transaction)?)
    }
}
