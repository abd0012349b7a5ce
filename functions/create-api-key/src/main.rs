//! `POST /artists/api-keys`: makes an API key for the signed-in artist and shows it, this once.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::{api_key::PlainKey, token::TokenVerifier},
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{KeyId, KeyName},
    store::{KeyRecord, Keys, MAX_KEYS, Table},
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
    keys: Keys,
}

/// The body of the request, which may be left out.
#[derive(ToSchema)]
struct CreateApiKeyRequest {
    /// What the artist calls the key.
    #[schema(value_type = Option<KeyName>, default = json!(KeyName::default()))]
    name: KeyName,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreateApiKeyResponse {
    /// The key. Only its hash is kept, so it can't be shown again.
    api_key: String,
}

impl CreateApiKey {
    async fn from_env() -> Result<Self, StartError> {
        let table = Table::secrets(&config::aws().await)?;
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: Keys::new(table) })
    }
}

impl Endpoint for CreateApiKey {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.tokens.authenticate(request)?;
        let CreateApiKeyRequest { name } = CreateApiKeyRequest::parse(request)?;
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

impl CreateApiKeyRequest {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.json_or_empty()?;
        let name = fields.optional_or("name", KeyName::default());
        fields.finish(|| Some(Self { name: name? }))
    }
}
