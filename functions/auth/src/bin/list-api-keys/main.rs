//! `GET /artists/api-keys`: the signed-in artist's live keys, newest first, without the secrets.

use auth::list_api_keys::{ListApiKeysResponse, ListedKey};
use shared::{
    auth::session::SessionAuthenticator,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::secret::{ApiKeys, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListApiKeys>().await
}

struct ListApiKeys {
    sessions: SessionAuthenticator,
    keys: ApiKeys,
}

impl Endpoint for ListApiKeys {
    async fn from_env() -> Result<Self, StartError> {
        let table = SecretTable::from_env(&config::aws().await)?;
        Ok(Self { sessions: SessionAuthenticator::from_env(table.clone())?, keys: ApiKeys::new(table) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate(request).await?.artist;
        let keys = self.keys.list(artist).await?;
        let keys = keys.into_iter().map(ListedKey::try_from).collect::<Result<_, _>>()?;
        Response::json(&ListApiKeysResponse { keys })
    }
}
