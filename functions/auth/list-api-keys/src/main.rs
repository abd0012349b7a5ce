//! `GET /artists/api-keys`: the signed-in artist's live keys, newest first, without the secrets.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::token::TokenVerifier,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{KeyId, KeyName},
    store::{ApiKeys, KeyRecord, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListApiKeys::from_env().await?).await
}

struct ListApiKeys {
    tokens: TokenVerifier,
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
}

impl ListApiKeys {
    async fn from_env() -> Result<Self, StartError> {
        let table = Table::secrets(&config::aws().await)?;
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: ApiKeys::new(table) })
    }
}

impl Endpoint for ListApiKeys {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.tokens.authenticate(request)?;
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
        })
    }
}
