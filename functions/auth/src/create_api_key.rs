//! Contract of `POST /artists/api-keys`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{DailyLimit, KeyDays, KeyName, Scope},
};
use utoipa::ToSchema;

/// A new key.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateApiKeyRequest {
    /// The key's name.
    #[schema(value_type = Option<KeyName>, default = json!(KeyName::default()))]
    pub name: KeyName,
    /// What it may do. No scope allows withdrawing, wallets, the profile or keys.
    #[schema(value_type = Option<Vec<Scope>>, default = json!(Scope::DEFAULT), min_items = 1, max_items = 3)]
    pub scopes: Vec<Scope>,
    /// Days until it expires.
    #[schema(value_type = Option<KeyDays>, default = 90)]
    pub expires_in_days: KeyDays,
    /// Most that it may spend in a day (UTC).
    pub daily_spend: Option<DailySpendRequest>,
}

/// Most that a key may spend in a day. A currency that is left out has the service's default.
#[derive(FromFields, ToSchema)]
pub struct DailySpendRequest {
    /// In wei.
    pub eth: Option<DailyLimit>,
    /// In millionths of a USDC.
    pub usdc: Option<DailyLimit>,
}

/// A new key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateApiKeyResponse {
    /// The key, shown this once: only its hash is stored.
    pub api_key: String,
}

/// Create an API key
///
/// The key is shown this once; only its hash is stored. An artist has at most 10 keys. The body is optional: without
/// it, the key can publish and, within a small daily limit, collect. No key can withdraw, change wallets or the
/// profile, or create and revoke keys. It expires after 90 days
/// unless told otherwise. A key that has the scope `admin`, or that may spend more than the service's default, takes a
/// sign-in of the last 15 minutes. The artist is notified by mail.
#[utoipa::path(
    post,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    request_body(
        content = Option<CreateApiKeyRequest>,
        example = json!({"name": "my site", "scopes": ["publish"], "expiresInDays": 90}),
    ),
    responses((status = 200, description = "The key.", body = CreateApiKeyResponse)),
    extensions(("x-errors" = json!([409]))),
)]
pub fn create_api_key() {}
