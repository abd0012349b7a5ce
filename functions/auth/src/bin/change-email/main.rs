//! `POST /artists/email`: has a new mail address take the place of the artist's, after seven days.

use auth::change_email::{ChangeEmailRequest, ChangeEmailResponse};
use shared::{
    api::{
        activity::ActivityLog,
        error::{no_artist, unproved},
        notice::NoticeMailer,
    },
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::{EmailChanges, EmailProofs, EmailRefusal},
        artist::{ArtistTable, ContactRefusal},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChangeEmail>().await
}

struct ChangeEmail {
    sessions: SessionAuthenticator,
    changes: EmailChanges,
    activity: ActivityLog,
    notices: NoticeMailer,
}

impl Endpoint for ChangeEmail {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            changes: EmailChanges::new(ArtistTable::from_env(&aws)?, secrets.clone()),
            activity: ActivityLog::from_env(&aws)?,
            notices: NoticeMailer::from_env(&aws, secrets)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_freshly(request, now).await?.artist;
        let ChangeEmailRequest { email, new_proof, proof } = request.json()?.read()?;
        let proofs = EmailProofs { new: new_proof, own: proof };
        let changed = self.changes.change(artist, &email, proofs, now.as_secs()).await?.map_err(refused)?;
        let kind = ActivityKind::EmailChanging;
        self.activity.note(request, artist, kind, "").await;
        self.notices.send(request, &email, artist, kind, "").await;
        Response::json(&ChangeEmailResponse { success: true, changes_at: clock::iso_8601(changed.from)? })
    }
}

fn refused(refusal: EmailRefusal) -> ApiError {
    match refusal {
        EmailRefusal::Gone => no_artist(),
        EmailRefusal::NewUnproved => unproved("newProof"),
        EmailRefusal::OwnUnproved | EmailRefusal::Contact(ContactRefusal::Unproved(_)) => unproved("proof"),
        EmailRefusal::Contact(ContactRefusal::Taken) => {
            ApiError::conflict("This address is that of another account: delete that one first, or use another")
        }
        EmailRefusal::Contact(ContactRefusal::Changing) => {
            ApiError::conflict("Your address is to change already: stop that first, DELETE /artists/email")
        }
    }
}
