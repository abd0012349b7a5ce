//! `POST /oauth/logout`: ends the token that the request brings, or all tokens of its artist.

use auth::log_out::{Everywhere, LogOutRequest, LogOutResponse};
use shared::{
    api::activity::ActivityLog,
    auth::{session::SessionAuthenticator, token::LIFETIME},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::secret::{SecretTable, Sessions},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<LogOut>().await
}

struct LogOut {
    authenticator: SessionAuthenticator,
    sessions: Sessions,
    activity: ActivityLog,
}

impl Endpoint for LogOut {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            authenticator: SessionAuthenticator::from_env(table.clone())?,
            sessions: Sessions::new(table),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let token = self.authenticator.authenticate(request).await?;
        let LogOutRequest { everywhere: Everywhere(everywhere) } = request.json_or_empty()?.read()?;
        let kind = if everywhere {
            let last_expires = clock::now()? + LIFETIME;
            self.sessions.end_all(token.artist, last_expires.as_secs()).await?;
            ActivityKind::SignedOutEverywhere
        } else {
            self.sessions.end(token.artist, token.id, token.expires_at).await?;
            ActivityKind::SignedOut
        };
        self.activity.note(request, token.artist, kind, "").await;
        Response::json(&LogOutResponse { success: true })
    }
}
