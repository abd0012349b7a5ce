use super::{RevokeApiKeyQuery, RevokeApiKeyResponse};

/// Revoke an API key
///
/// Immediately and permanently. Artists revoke their own keys only.
#[utoipa::path(
    delete,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    params(RevokeApiKeyQuery),
    responses((status = 200, description = "It is revoked.", body = RevokeApiKeyResponse)),
)]
fn revoke_api_key() {}

openapi::published!(revoke_api_key, 404);
