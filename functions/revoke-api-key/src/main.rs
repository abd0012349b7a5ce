//! `DELETE /artists/api-keys?keyId=`: revokes a key of the signed-in artist, at once and for good.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::token::TokenVerifier,
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::KeyId,
    store::{Keys, Table},
    telemetry,
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(RevokeApiKey::from_env().await?).await
}

struct RevokeApiKey {
    tokens: TokenVerifier,
    keys: Keys,
}

/// Which key goes.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct RevokeApiKeyQuery {
    /// Its id in the list of keys.
    #[param(rename = "keyId")]
    key: KeyId,
}

#[derive(Serialize, ToSchema)]
struct RevokeApiKeyResponse {
    /// The key is revoked.
    success: bool,
}

impl RevokeApiKey {
    async fn from_env() -> Result<Self, StartError> {
        let table = Table::secrets(&config::aws().await)?;
        Ok(Self { tokens: TokenVerifier::from_env()?, keys: Keys::new(table) })
    }
}

impl Endpoint for RevokeApiKey {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.tokens.authenticate(request)?;
        let RevokeApiKeyQuery { key } = RevokeApiKeyQuery::parse(request)?;
        if !self.keys.revoke(artist, key).await? {
            return Err(ApiError::not_found("You have no key with this id"));
        }
        Response::json(&RevokeApiKeyResponse { success: true })
    }
}

impl RevokeApiKeyQuery {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let key = fields.required("keyId");
        fields.finish(|| Some(Self { key: key? }))
    }
}
