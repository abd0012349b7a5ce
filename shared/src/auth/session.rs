//! Authentication of people: a token that wasn't signed out, for money of a recent sign-in. No API key is enough.

use std::time::Duration;

use super::{
    api_key::{PlainKey, sent_key},
    page_session,
    token::{Means, TokenVerifier, VerifiedToken, bearer},
};
use crate::{
    clock,
    config::ConfigError,
    http::{ApiError, Principal, Request},
    store::secret::{SecretTable, Sessions},
};

/// How long ago the sign-in may be where money or the account's existence is at stake.
pub const FRESH: Duration = Duration::from_secs(15 * 60);

impl VerifiedToken {
    /// Whether the sign-in was within [`FRESH`], and with a passkey if the artist has one; not with a passkey or wallet that
    /// was added less than a day ago, or a wallet that no old way in proved.
    pub fn is_fresh(&self, now: Duration) -> bool {
        let seconds = now.as_secs();
        let is_strong = match &self.means {
            Means::Passkey(id) => self.passkeys.holds(id, seconds),
            Means::YoungWallet => false,
            Means::Other => !self.passkeys.any_holds(seconds),
        };
        is_strong && self.is_recent(now)
    }

    /// Whether the sign-in was within [`FRESH`], by whatever means.
    pub fn is_recent(&self, now: Duration) -> bool {
        now.as_secs() <= self.fresh_until()
    }

    fn has_lost_its_passkey(&self, now: Duration) -> bool {
        let is_marked = |id| self.passkeys.is_missing() || self.passkeys.find(id, now.as_secs()).is_some();
        matches!(&self.means, Means::Passkey(id) if !is_marked(id))
    }

    /// Until when the sign-in counts as recent, in Unix seconds.
    pub fn fresh_until(&self) -> u64 {
        self.issued_at.saturating_add(FRESH.as_secs())
    }
}

/// Authenticates requests by token.
#[derive(Clone)]
pub struct SessionAuthenticator {
    tokens: TokenVerifier,
    sessions: Sessions,
}

impl SessionAuthenticator {
    /// Reads `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`; sessions are in the table `secrets`.
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        Ok(Self { tokens: TokenVerifier::from_env()?, sessions: Sessions::new(secrets) })
    }

    /// The request's token; 401 without a valid one, or with one that was signed out or whose passkey was removed. One read,
    /// none for an invalid one.
    pub async fn authenticate(&self, request: &Request) -> Result<VerifiedToken, ApiError> {
        let sent = bearer(request).or_else(|| page_session::token(request));
        let mut token = self.tokens.verify(sent)?;
        let state = self.sessions.state(token.artist, token.id).await?;
        token.passkeys = state.passkeys;
        if state.is_over || token.has_lost_its_passkey(clock::now()?) {
            return Err(ApiError::invalid_token("The token was signed out: sign in again to get a new one"));
        }
        request.note_principal(Principal { artist: Some(token.artist), key: None, scope: None });
        Ok(token)
    }

    /// The same where no API key may act: 403 for a request with a key alone, whatever its scopes.
    pub async fn authenticate_person(&self, request: &Request) -> Result<VerifiedToken, ApiError> {
        if let Some(key) = sent_key(request) {
            // The key isn't looked up, so this is all that tells its owner which one is tried.
            let key = PlainKey::parse(key);
            let prefix = key.as_ref().map(PlainKey::shown_prefix);
            tracing::info!(request.id = request.id(), key.prefix = prefix, "API key sent where only a token is taken");
            return Err(ApiError::forbidden(
                "No scope of an API key allows this: sign in and send the token as Authorization: Bearer <token>",
            ));
        }
        self.authenticate(request).await
    }

    /// The same with a sign-in within [`FRESH`]; 401 that asks for one otherwise (RFC 9470).
    pub async fn authenticate_freshly(&self, request: &Request, now: Duration) -> Result<VerifiedToken, ApiError> {
        let token = self.authenticate_person(request).await?;
        if !token.is_fresh(now) {
            return Err(ApiError::stale_sign_in());
        }
        Ok(token)
    }
}
