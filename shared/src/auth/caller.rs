//! Authentication for endpoints that accept a token or an API key.

use std::time::Duration;

use futures::future::BoxFuture;

use super::{
    api_key::{Caller, Credential, KeyAuthenticator, KeyInUse, sent_key},
    page_session,
    session::SessionAuthenticator,
    token::VerifiedToken,
};
use crate::{
    config::ConfigError,
    http::{ApiError, Request},
    model::{ArtistId, Scope},
    store::secret::{KeyOwner, SecretTable},
};

/// A valid credential with all that is known of it.
pub enum Identified {
    /// A token.
    Token(VerifiedToken),
    /// An API key.
    Key(KeyOwner),
}

/// Authenticates requests by token or API key.
#[derive(Clone)]
pub struct CallerAuthenticator {
    sessions: SessionAuthenticator,
    keys: KeyAuthenticator,
}

impl CallerAuthenticator {
    /// Reads `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`; API keys are in the table `secrets`.
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        let keys = KeyAuthenticator::new(secrets.clone());
        Ok(Self { sessions: SessionAuthenticator::from_env(secrets)?, keys })
    }

    /// The artist whose token or API key, of whatever scope, the request brings; 401 without a valid one. A request with
    /// both is judged by its token alone.
    pub async fn authenticate(&self, request: &Request, now: Duration) -> Result<ArtistId, ApiError> {
        Ok(self.identify(request, None, now).await?.artist)
    }

    /// The same with the key, if it is one; 403 for an API key that lacks the scope. A token has all of them.
    pub async fn authenticate_for(&self, request: &Request, scope: Scope, now: Duration) -> Result<Caller, ApiError> {
        self.identify(request, Some(scope), now).await
    }

    /// The same for a credential of whatever scope where none is given.
    pub async fn identify(&self, request: &Request, scope: Option<Scope>, now: Duration) -> Result<Caller, ApiError> {
        Ok(match self.describe(request, scope, now).await? {
            Identified::Token(token) => {
                let credential = if token.is_fresh(now) { Credential::FreshToken } else { Credential::OldToken };
                Caller { artist: token.artist, credential, even_suspended: false }
            }
            Identified::Key(owner) => {
                let key = KeyInUse { id: owner.id, daily_spend: owner.grant.daily_spend };
                Caller { artist: owner.artist_id, credential: Credential::Key(key), even_suspended: false }
            }
        })
    }

    /// The same with all that is known of the credential. Boxed, so that it is compiled here and not in each function.
    pub fn describe<'a>(
        &'a self,
        request: &'a Request,
        scope: Option<Scope>,
        now: Duration,
    ) -> BoxFuture<'a, Result<Identified, ApiError>> {
        Box::pin(async move {
            if sent_key(request).is_some() {
                self.keys.authenticate(request, scope, now).await.map(Identified::Key)
            } else if request.header("authorization").is_some() || page_session::token(request).is_some() {
                self.sessions.authenticate(request).await.map(Identified::Token)
            } else {
                Err(ApiError::unauthorized_caller(
                    "Send a token as Authorization: Bearer <token>, or an API key in the x-api-key header",
                ))
            }
        })
    }
}
