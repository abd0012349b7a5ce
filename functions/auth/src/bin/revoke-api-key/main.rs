//! `DELETE /artists/api-keys?keyId=`: revokes a key of the signed-in artist, immediately and permanently.

use auth::revoke_api_key::{RevokeApiKeyQuery, RevokeApiKeyResponse};
use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::secret::{ApiKeys, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RevokeApiKey>().await
}

struct RevokeApiKey {
    sessions: SessionAuthenticator,
    keys: ApiKeys,
    activity: ActivityLog,
}

impl Endpoint for RevokeApiKey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(table.clone())?,
            keys: ApiKeys::new(table),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate(request).await?.artist;
        let RevokeApiKeyQuery { key } = request.query().read()?;
        if !self.keys.revoke(artist, key).await? {
            return Err(ApiError::not_found("You have no key with this id"));
        }
        self.activity.note(request, artist, ActivityKind::KeyRevoked, &key.to_string()).await;
        Response::json(&RevokeApiKeyResponse { success: true })
    }
}
