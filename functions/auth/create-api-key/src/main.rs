//! `POST /artists/api-keys`: creates an API key for the signed-in artist and shows it, this once.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::{api_key::PlainKey, token::TokenVerifier},
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{KeyId, KeyName},
    store::{ApiKeys, KeyRecord, MAX_KEYS, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateApiKey::from_env().await?).await
}

struct CreateApiKey {
    tokens: TokenVerifier,
    keys: ApiKeys,
}

/// A new key.
#[derive(FromFields, ToSchema)]
struct CreateApiKeyRequest {
    /// The key's name.
    #[schema(value_type = Option<KeyName>, default = json!(KeyName::default()))]
    name: KeyName,
}

/// A new key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreateApiKeyResponse {
    /// The key, shown this once: only its hash is stored.
    api_key: String,
}

impl CreateApiKey {
    async fn from_env() -> Result<Self, StartError> {
        let table = Table::secrets(&config::aws().await)?;
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: ApiKeys::new(table) })
    }
}

impl Endpoint for CreateApiKey {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.tokens.authenticate(request)?;
        let CreateApiKeyRequest { name } = request.json_or_empty()?.read()?;
        let key = PlainKey::random()?;
        let record = KeyRecord {
            id: KeyId::next(),
            name,
            prefix: key.shown_prefix().to_owned(),
            created_at: clock::now()?.as_secs(),
            last_used_at: None,
        };
        if !self.keys.create(artist, &record, key.hash().as_str()).await? {
            return Err(ApiError::conflict(format!("You have {MAX_KEYS} keys already: revoke one first")));
        }
        Response::json(&CreateApiKeyResponse { api_key: key.reveal().to_owned() })
    }
}
