use super::{RevokeApiKeyQuery, RevokeApiKeyResponse};

/// Revoke an API key
///
/// At once and for good. The signed-in artist's own alone.
#[utoipa::path(
    delete,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    params(RevokeApiKeyQuery),
    responses((status = 200, description = "It is revoked.", body = RevokeApiKeyResponse)),
)]
fn revoke_api_key() {}

contract::published!(revoke_api_key, 404);
