//! `DELETE /artists/api-keys?keyId=`: revokes a key of the signed-in artist, immediately and permanently.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityKind, KeyId},
    store::secret::{ApiKeys, SecretTable},
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RevokeApiKey>().await
}

struct RevokeApiKey {
    sessions: SessionAuthenticator,
    keys: ApiKeys,
    activity: ActivityLog,
}

/// The key.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct RevokeApiKeyQuery {
    /// Its id, from the list of keys.
    #[param(rename = "keyId")]
    key: KeyId,
}

/// The key no longer works.
#[derive(Serialize, ToSchema)]
struct RevokeApiKeyResponse {
    /// The key is revoked.
    success: bool,
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
