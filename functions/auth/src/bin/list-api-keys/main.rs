//! `GET /artists/api-keys`: the signed-in artist's live keys, newest first, without the secrets.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::session::SessionAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{DailySpend, KeyId, KeyName, Scope},
    store::secret::{ApiKeys, KeyRecord, SecretTable},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListApiKeys>().await
}

struct ListApiKeys {
    sessions: SessionAuthenticator,
    keys: ApiKeys,
}

/// The keys of an artist.
#[derive(Serialize, ToSchema)]
struct ListApiKeysResponse {
    keys: Vec<ListedKey>,
}

/// An API key without its secret part.
#[derive(Serialize, ToSchema)]
struct ListedKey {
    id: KeyId,
    name: KeyName,
    /// The key's first characters.
    prefix: String,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601; null until the key is used.
    #[schema(required = true)]
    last_used_at: Option<String>,
    /// What it may do.
    scopes: Vec<Scope>,
    /// ISO 8601; null if it doesn't expire.
    #[schema(required = true)]
    expires_at: Option<String>,
    /// Most that it may spend in a day (UTC), in the currencies' smallest units.
    daily_spend: DailySpend,
}

impl Endpoint for ListApiKeys {
    async fn from_env() -> Result<Self, StartError> {
        let table = SecretTable::from_env(&config::aws().await)?;
        Ok(Self { sessions: SessionAuthenticator::from_env(table.clone())?, keys: ApiKeys::new(table) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate(request).await?.artist;
        let keys = self.keys.list(artist).await?;
        let keys = keys.into_iter().map(ListedKey::try_from).collect::<Result<_, _>>()?;
        Response::json(&ListApiKeysResponse { keys })
    }
}

impl TryFrom<KeyRecord> for ListedKey {
    type Error = ApiError;

    fn try_from(record: KeyRecord) -> Result<Self, ApiError> {
        Ok(Self {
            id: record.id,
            name: record.name,
            prefix: record.prefix,
            created_at: clock::iso_8601(record.created_at)?,
            last_used_at: record.last_used_at.map(clock::iso_8601).transpose()?,
            scopes: record.grant.scopes,
            expires_at: record.grant.valid_until.map(clock::iso_8601).transpose()?,
            daily_spend: record.grant.daily_spend,
        })
    }
}
