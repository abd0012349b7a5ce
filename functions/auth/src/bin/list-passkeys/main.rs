//! `GET /artists/passkeys`: lists the signed-in artist's passkeys.

use auth::passkey::PasskeysResponse;
use shared::{
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::secret::{Passkeys, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListPasskeys>().await
}

struct ListPasskeys {
    sessions: SessionAuthenticator,
    passkeys: Passkeys,
}

impl Endpoint for ListPasskeys {
    async fn from_env() -> Result<Self, StartError> {
        let secrets = SecretTable::from_env(&config::aws().await)?;
        Ok(Self { sessions: SessionAuthenticator::from_env(secrets.clone())?, passkeys: Passkeys::new(secrets) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let passkeys = self.passkeys.list(artist, clock::now()?.as_secs()).await?;
        Response::json(&PasskeysResponse::of(passkeys)?)
    }
}
