//! `DELETE /artists/passkeys?passkeyId=`: removes a passkey of the signed-in artist.

use auth::{passkey::PasskeysResponse, remove_passkey::RemovePasskeyQuery};
use shared::{
    api::{activity::ActivityLog, error::last_way_in},
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        across::{PasskeyRefusal, WaysIn},
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
    ways_in: WaysIn,
    passkeys: Passkeys,
    activity: ActivityLog,
}

impl Endpoint for RemovePasskey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            ways_in: WaysIn::new(ArtistTable::from_env(&aws)?, secrets.clone()),
            passkeys: Passkeys::new(secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let token = self.sessions.authenticate_person(request).await?;
        if !token.is_recent(now) {
            return Err(ApiError::stale_sign_in());
        }
        let RemovePasskeyQuery { passkey } = request.query().read()?;
        let removed = self.ways_in.remove_passkey(token.artist, &passkey, token.is_by_passkey, now.as_secs()).await?;
        removed.map_err(refused)?;
        self.activity.note(request, token.artist, ActivityKind::PasskeyRemoved, &passkey.to_string()).await;
        Response::json(&PasskeysResponse::of(self.passkeys.list(token.artist, now.as_secs()).await?)?)
    }
}

fn refused(refusal: PasskeyRefusal) -> ApiError {
    match refusal {
        PasskeyRefusal::Unknown => ApiError::not_found("You have no passkey with this id"),
        PasskeyRefusal::LastWayIn => last_way_in("passkey"),
    }
}
