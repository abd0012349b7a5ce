//! `POST /oauth/logout`: ends the token that the request brings, another one or all of its artist.

use auth::log_out::{LogOutRequest, LogOutResponse, SignOut};
use shared::{
    api::activity::ActivityLog,
    auth::{credentials::Credentials, page_session, session::SessionAuthenticator},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        artist::ArtistTable,
        secret::{SecretTable, Sessions},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<LogOut>().await
}

struct LogOut {
    authenticator: SessionAuthenticator,
    sessions: Sessions,
    credentials: Credentials,
    activity: ActivityLog,
}

impl Endpoint for LogOut {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            authenticator: SessionAuthenticator::from_env(table.clone())?,
            sessions: Sessions::new(table.clone()),
            credentials: Credentials::new(ArtistTable::from_env(&aws)?, table),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let token = self.authenticator.authenticate(request).await?;
        let sign_out = request.json_or_empty()?.read::<LogOutRequest>()?.sign_out()?;
        let is_own = !matches!(sign_out, SignOut::Other(_));
        let (kind, subject) = match sign_out {
            SignOut::Own => {
                self.sessions.end(token.artist, token.id, token.expires_at).await?;
                (ActivityKind::SignedOut, String::new())
            }
            SignOut::Other(id) => {
                if !self.sessions.end_other(token.artist, id, clock::now()?.as_secs()).await? {
                    return Err(ApiError::not_found("You have no session with this id, or it has ended"));
                }
                (ActivityKind::SignedOut, id.to_string())
            }
            SignOut::Everywhere { api_keys, devices } => {
                self.credentials.end_all(token.artist, api_keys, devices, clock::now()?).await?;
                let besides = [("API keys", api_keys), ("devices", devices)];
                let besides: Vec<_> = besides.iter().filter(|(_, is_ended)| *is_ended).map(|(name, _)| *name).collect();
                (ActivityKind::SignedOutEverywhere, besides.join(", "))
            }
        };
        self.activity.note(request, token.artist, kind, &subject).await;
        let response = Response::json(&LogOutResponse { success: true })?;
        if is_own { page_session::end(request, response) } else { Ok(response) }
    }
}
