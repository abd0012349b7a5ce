//! `DELETE /artists/email`: stops a change of the artist's mail address.

use auth::keep_email::{KeepEmailRequest, KeepEmailResponse};
use shared::{
    api::{activity::ActivityLog, error::unproved},
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::{EmailChanges, KeepRefusal},
        artist::ArtistTable,
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<KeepEmail>().await
}

struct KeepEmail {
    sessions: SessionAuthenticator,
    changes: EmailChanges,
    activity: ActivityLog,
}

impl Endpoint for KeepEmail {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            changes: EmailChanges::new(ArtistTable::from_env(&aws)?, secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let KeepEmailRequest { proof } = request.json_or_empty()?.read()?;
        self.changes.keep(artist, proof, clock::now()?.as_secs()).await?.map_err(refused)?;
        self.activity.note(request, artist, ActivityKind::EmailKept, "").await;
        Response::json(&KeepEmailResponse { success: true })
    }
}

fn refused(refusal: KeepRefusal) -> ApiError {
    match refusal {
        KeepRefusal::Unchanged => ApiError::not_found("Your mail address is not to change"),
        KeepRefusal::Unproved => unproved("proof"),
    }
}
