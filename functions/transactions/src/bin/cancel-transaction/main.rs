//! `DELETE /transactions/{id}`: takes one of the caller's transactions back that was never sent.

use shared::{
    auth::api_key::{Caller, Credential},
    clock,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::TransactionStatus,
    store::artist::Transaction,
};
use transactions::{OwnTransactions, TransactionPath, cancel_transaction::CancelTransactionResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CancelTransaction>().await
}

struct CancelTransaction(OwnTransactions);

impl Endpoint for CancelTransaction {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(OwnTransactions::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let Caller { artist, credential, .. } = self.0.caller(request).await?;
        let TransactionPath { id } = request.path_parameters().read()?;
        let mut transaction = self.0.find(artist, id).await?;
        if let Credential::Key(key) = credential
            && transaction.key != Some(key.id)
        {
            return Err(ApiError::forbidden("Another credential asked for this transaction: cancel it with a token"));
        }
        if !self.0.transactions.cancel(&transaction, clock::now()?.as_secs()).await? {
            transaction = self.0.find(artist, id).await?;
            // A retry of a request whose answer was lost isn't refused.
            if transaction.status != TransactionStatus::Cancelled {
                return Err(too_late(&transaction));
            }
        }
        Response::json(&CancelTransactionResponse { transaction_id: id, status: TransactionStatus::Cancelled })
    }
}

fn too_late(transaction: &Transaction) -> ApiError {
    ApiError::conflict(match transaction.status {
        TransactionStatus::Queued => {
            "It is queued again after an attempt, and a block may still have that one".to_owned()
        }
        status => format!("It is {} already", status.word()),
    })
}
