//! `DELETE /artists/email`: stops a change of the artist's mail address.

use auth::keep_email::KeepEmailResponse;
use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        artist::{ArtistTable, Artists},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<KeepEmail>().await
}

struct KeepEmail {
    sessions: SessionAuthenticator,
    artists: Artists,
    activity: ActivityLog,
}

impl Endpoint for KeepEmail {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        if !self.artists.keep_email(artist, clock::now()?.as_secs()).await? {
            return Err(ApiError::not_found("Your mail address is not to change"));
        }
        self.activity.note(request, artist, ActivityKind::EmailKept, "").await;
        Response::json(&KeepEmailResponse { success: true })
    }
}
