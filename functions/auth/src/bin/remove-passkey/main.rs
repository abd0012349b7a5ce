//! `DELETE /artists/passkeys?passkeyId=` removes a passkey of the signed-in artist; `PATCH` keeps one that is to be removed.

use auth::{
    keep_passkey::KeepPasskeyRequest,
    passkey::PasskeysResponse,
    remove_passkey::{RemovePasskeyQuery, RemovePasskeyRequest},
};
use shared::{
    api::{
        activity::ActivityLog,
        error::{last_way_in, unproved},
    },
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Method, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::{PasskeyChanges, PasskeyRefusal},
        artist::ArtistTable,
        secret::{Passkeys, SecretTable},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RemovePasskey>().await
}

struct RemovePasskey {
    sessions: SessionAuthenticator,
    changes: PasskeyChanges,
    passkeys: Passkeys,
    activity: ActivityLog,
}

impl Endpoint for RemovePasskey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            changes: PasskeyChanges::new(ArtistTable::from_env(&aws)?, secrets.clone()),
            passkeys: Passkeys::new(secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let time = clock::now()?;
        let token = self.sessions.authenticate_person(request).await?;
        if !token.is_recent(time) {
            return Err(ApiError::stale_sign_in());
        }
        let (artist, now) = (token.artist, time.as_secs());
        let RemovePasskeyQuery { passkey } = request.query().read()?;
        let (kind, field, changed) = if *request.method() == Method::PATCH {
            let KeepPasskeyRequest { proofs } = request.json()?.read()?;
            let kept = self.changes.keep(artist, &passkey, &proofs, now).await?;
            (ActivityKind::PasskeyKept, "proofs", kept)
        } else {
            let RemovePasskeyRequest { proof } = request.json()?.read()?;
            let removed = self.changes.remove(artist, &passkey, proof, now).await?;
            (ActivityKind::PasskeyRemoved, "proof", removed)
        };
        changed.map_err(|refusal| refused(refusal, field))?;
        self.activity.note(request, artist, kind, &passkey.to_string()).await;
        Response::json(&PasskeysResponse::of(self.passkeys.list(artist, now).await?)?)
    }
}

fn refused(refusal: PasskeyRefusal, field: &str) -> ApiError {
    match refusal {
        PasskeyRefusal::LastWayIn => last_way_in("passkey"),
        PasskeyRefusal::Stays => ApiError::conflict("This passkey is not to be removed"),
        PasskeyRefusal::Unproved => unproved(field),
        PasskeyRefusal::OneSided => {
            ApiError::invalid_field(field, "must be one by the passkey itself, and one by a code or a wallet")
        }
        PasskeyRefusal::Unknown | PasskeyRefusal::Known | PasskeyRefusal::TooMany => {
            ApiError::not_found("You have no passkey with this id")
        }
    }
}
