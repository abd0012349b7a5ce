//! The caller's transactions, for each of the resource's endpoints.

use shared::{
    auth::{api_key::Caller, caller::CallerAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, FromFields, Request},
    model::{ArtistId, TransactionId},
    store::{
        artist::{ArtistTable, Transaction, Transactions},
        secret::SecretTable,
    },
};
use utoipa::IntoParams;

/// A transaction.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct TransactionPath {
    /// Its id, as `Transaction-Id` has it.
    pub id: TransactionId,
}

/// Transactions, and who may read and cancel them: their artist.
pub struct OwnTransactions {
    callers: CallerAuthenticator,
    /// Everybody's.
    pub transactions: Transactions,
}

impl OwnTransactions {
    /// Uses the artist table and the secret table.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let callers = CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?;
        Ok(Self { callers, transactions: Transactions::new(ArtistTable::from_env(&aws)?) })
    }

    /// One of the artist's transactions; 404 for others. One read.
    pub async fn find(&self, artist: ArtistId, id: TransactionId) -> Result<Transaction, ApiError> {
        let transaction = self.transactions.get(artist, id).await?;
        transaction.ok_or_else(|| ApiError::not_found(format!("You have no transaction {id}")))
    }

    /// The artist who asks, and by what.
    pub async fn caller(&self, request: &Request) -> Result<Caller, ApiError> {
        self.callers.identify(request, None, clock::now()?).await
    }

    /// The artist who asks.
    pub async fn artist(&self, request: &Request) -> Result<ArtistId, ApiError> {
        self.callers.authenticate(request, clock::now()?).await
    }
}
