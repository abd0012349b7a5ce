use super::{CreateApiKeyRequest, CreateApiKeyResponse};

/// Create an API key
///
/// The key is shown this once; only its hash is stored. An artist has at most 10 keys. The body is optional: without it, the
/// key can publish and, within a small daily limit, collect. No key can withdraw, change wallets or the profile, or make and
/// revoke keys. The artist gets a mail about it.
#[utoipa::path(
    post,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    request_body(content = Option<CreateApiKeyRequest>, example = json!({"name": "my site", "scopes": ["publish"], "expiresInDays": 90})),
    responses((status = 200, description = "The key.", body = CreateApiKeyResponse)),
)]
fn create_api_key() {}

openapi::published!(create_api_key, 409);
