//! The caller's transactions, for each of the resource's endpoints.

use shared::{
    auth::{api_key::Caller, caller::CallerAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, Request},
    model::ArtistId,
    store::{
        artist::{ArtistTable, Transactions},
        secret::SecretTable,
    },
};

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

    /// The artist who asks, and by what.
    pub async fn caller(&self, request: &Request) -> Result<Caller, ApiError> {
        self.callers.identify(request, None, clock::now()?).await
    }

    /// The artist who asks.
    pub async fn artist(&self, request: &Request) -> Result<ArtistId, ApiError> {
        self.callers.authenticate(request, clock::now()?).await
    }
}
