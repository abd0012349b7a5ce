//! Who asks, where a token and an API key are equally good.

use std::time::Duration;

use super::{api_key::KeyAuthenticator, token::TokenVerifier};
use crate::{
    config::ConfigError,
    http::{ApiError, Request},
    model::ArtistId,
    store::{Keys, Table},
};

/// Finds out whose token or API key a request brings.
#[derive(Clone)]
pub struct CallerAuthenticator {
    tokens: TokenVerifier,
    keys: KeyAuthenticator,
}

impl CallerAuthenticator {
    /// Knows the keys in the table of secrets. Reads `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`.
    ///
    /// # Errors
    /// When one of them is unset or wrong.
    pub fn from_env(secrets: Table) -> Result<Self, ConfigError> {
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: KeyAuthenticator::new(Keys::new(secrets)) })
    }

    /// The artist whose token, or else whose key, the request brings; a request with both is judged by its token alone.
    /// Costs what the one or the other does.
    ///
    /// # Errors
    /// 401 without a live one; 500 when storage fails.
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
