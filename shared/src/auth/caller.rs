//! Authentication for endpoints that accept a token or an API key.

use std::time::Duration;

use super::{api_key::KeyAuthenticator, token::TokenVerifier};
use crate::{
    config::ConfigError,
    http::{ApiError, Request},
    model::ArtistId,
    store::{ApiKeys, Table},
};

/// Authenticates requests by token or API key.
#[derive(Clone)]
pub struct CallerAuthenticator {
    tokens: TokenVerifier,
    keys: KeyAuthenticator,
}

impl CallerAuthenticator {
    /// Reads `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`; API keys are in the table `secrets`.
    pub fn from_env(secrets: Table) -> Result<Self, ConfigError> {
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: KeyAuthenticator::new(ApiKeys::new(secrets)) })
    }

    /// The artist whose token or API key the request brings; 401 without a valid one. A request with both is judged by
    /// its token alone. Costs what [`TokenVerifier::authenticate`] or [`KeyAuthenticator::authenticate`] does.
    pub async fn authenticate(&self, request: &Request, now: Duration) -> Result<ArtistId, ApiError> {
        if request.header("authorization").is_some() {
            self.tokens.authenticate(request)
        } else if request.header("x-api-key").is_some() {
            self.keys.authenticate(request, now).await
        } else {
            Err(ApiError::unauthorized_caller(
                "Send a token as Authorization: Bearer <token>, or an API key in the x-api-key header",
            ))
        }
    }
}
