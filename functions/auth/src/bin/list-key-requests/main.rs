//! `GET /artists/requests`: what an API key was sent with lately, and what was answered.

use auth::list_key_requests::{ListKeyRequestsQuery, ListKeyRequestsResponse, LoggedRequest};
use shared::{
    auth::session::SessionAuthenticator,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::secret::{KeyRequests, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListKeyRequests>().await
}

struct ListKeyRequests {
    sessions: SessionAuthenticator,
    requests: KeyRequests,
}

impl Endpoint for ListKeyRequests {
    async fn from_env() -> Result<Self, StartError> {
        let secrets = SecretTable::from_env(&config::aws().await)?;
        Ok(Self { sessions: SessionAuthenticator::from_env(secrets.clone())?, requests: KeyRequests::new(secrets) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate(request).await?.artist;
        let ListKeyRequestsQuery { key, limit } = request.query().read()?;
        let requests = self.requests.list(artist, key, limit.get()).await?;
        let requests = requests.into_iter().map(LoggedRequest::try_from).collect::<Result<_, _>>()?;
        Response::json(&ListKeyRequestsResponse { requests })
    }
}
