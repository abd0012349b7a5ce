//! Contract of `DELETE /artists/api-keys?keyId=`.

use serde::Serialize;
use shared::{http::FromFields, model::KeyId};
use utoipa::{IntoParams, ToSchema};

/// The key.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RevokeApiKeyQuery {
    /// Its id, from the list of keys.
    #[param(rename = "keyId")]
    pub key: KeyId,
}

/// The key no longer works.
#[derive(Serialize, ToSchema)]
pub struct RevokeApiKeyResponse {
    /// The key is revoked.
    pub success: bool,
}

/// Revoke an API key
///
/// Takes effect immediately and permanently. Artists revoke only their own keys.
#[utoipa::path(
    delete,
    path = "/artists/api-keys",
    tag = "API keys",
    security(("token" = [])),
    params(RevokeApiKeyQuery),
    responses((status = 200, description = "The key is revoked.", body = RevokeApiKeyResponse)),
    extensions(("x-errors" = json!([404]))),
)]
pub fn revoke_api_key() {}
