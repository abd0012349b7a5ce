//! `POST /oauth/logout`: ends the token that the request brings, another one or all of its artist.

use auth::log_out::{LogOutRequest, LogOutResponse, SignOut};
use shared::{
    api::activity::ActivityLog,
    auth::{session::SessionAuthenticator, token::LIFETIME},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, ArtistId},
    store::{
        artist::{ArtistTable, Artists},
        secret::{ApiKeys, Devices, SecretTable, Sessions},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<LogOut>().await
}

struct LogOut {
    authenticator: SessionAuthenticator,
    sessions: Sessions,
    keys: ApiKeys,
    artists: Artists,
    devices: Devices,
    activity: ActivityLog,
}

impl LogOut {
    async fn end_all(&self, artist: ArtistId, api_keys: bool, devices: bool) -> Result<(), ApiError> {
        let now = clock::now()?;
        // Credentials that last go first: if one fails, the request can be repeated with its token.
        if api_keys {
            self.keys.revoke_all(artist).await?;
        }
        if devices && let Some(email) = self.artists.contact(artist, now.as_secs()).await?.email {
            self.devices.forget_all(&email).await?;
        }
        Ok(self.sessions.end_all(artist, (now + LIFETIME).as_secs()).await?)
    }
}

impl Endpoint for LogOut {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            authenticator: SessionAuthenticator::from_env(table.clone())?,
            sessions: Sessions::new(table.clone()),
            keys: ApiKeys::new(table.clone()),
            devices: Devices::new(table),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let token = self.authenticator.authenticate(request).await?;
        let (kind, subject) = match request.json_or_empty()?.read::<LogOutRequest>()?.sign_out()? {
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
                self.end_all(token.artist, api_keys, devices).await?;
                let besides = [("API keys", api_keys), ("devices", devices)];
                let besides: Vec<_> = besides.iter().filter(|(_, is_ended)| *is_ended).map(|(name, _)| *name).collect();
                (ActivityKind::SignedOutEverywhere, besides.join(", "))
            }
        };
        self.activity.note(request, token.artist, kind, &subject).await;
        Response::json(&LogOutResponse { success: true })
    }
}
