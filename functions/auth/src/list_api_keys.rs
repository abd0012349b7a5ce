//! Contract of `GET /artists/api-keys`.

use serde::Serialize;
use shared::{
    clock,
    http::ApiError,
    model::{DailySpend, KeyId, KeyName, Scope},
    store::secret::KeyRecord,
};
use utoipa::ToSchema;

/// The keys of an artist.
#[derive(Serialize, ToSchema)]
pub struct ListApiKeysResponse {
    pub keys: Vec<ListedKey>,
}

/// An API key without its secret part.
#[derive(Serialize, ToSchema)]
pub struct ListedKey {
    pub id: KeyId,
    pub name: KeyName,
    /// The key's first characters.
    pub prefix: String,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601; null until the key is used.
    #[schema(required = true)]
    pub last_used_at: Option<String>,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// ISO 8601; null if it doesn't expire.
    #[schema(required = true)]
    pub expires_at: Option<String>,
    /// Most that it may spend in a day (UTC), in the currencies' smallest units.
    pub daily_spend: DailySpend,
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

/// List API keys
///
/// The signed-in artist's live keys, newest first, without the secrets.
#[utoipa::path(
    get,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    responses((status = 200, description = "The keys.", body = ListApiKeysResponse, links(
        ("RevokeNewest" = (operation_id = "revoke_api_key", parameters(("keyId" = "$response.body#/keys/0/id")))),
    ))),
)]
pub fn list_api_keys() {}
