//! `POST /oauth/passkey`: exchanges a passkey's answer for a token.

use std::time::Duration;

use auth::{
    log_in::LogInResponse,
    passkey::{Credential, credential_of, relying_party},
    sign_in::{Session, SignIn},
    use_passkey::UsePasskeyRequest,
};
use shared::{
    auth::{client_limit::ClientLimit, page_session, service_address::ServiceAddress},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, PasskeyId},
    store::secret::{Passkeys, SecretTable},
    telemetry::{self, Metric},
};
use webauthn_rs::prelude::DiscoverableAuthentication;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UsePasskey>().await
}

struct UsePasskey {
    address: ServiceAddress,
    passkeys: Passkeys,
    attempts: ClientLimit,
    sign_in: SignIn,
}

impl Endpoint for UsePasskey {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::SIGN_INS_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            address: ServiceAddress::from_env(),
            attempts: ClientLimit::new(secrets.clone(), "passkey", most, HOUR),
            sign_in: SignIn::from_env(&aws, &secrets)?,
            passkeys: Passkeys::new(secrets),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let asked: UsePasskeyRequest = request.json()?.read()?;
        let now = clock::now()?;
        let proof = self.open(request, asked, now).await;
        let session = self.attempts.unless_proved(request, proof, now).await?;
        self.sign_in.record(request, &session, now).await;
        let answer = LogInResponse::new(session, None);
        page_session::begin(request, Response::json(&answer)?, &answer.token)
    }
}

impl UsePasskey {
    /// The session of the artist whose passkey answered.
    async fn open(&self, request: &Request, asked: UsePasskeyRequest, now: Duration) -> Result<Session, ApiError> {
        let UsePasskeyRequest { ceremony, credential: Credential(credential) } = asked;
        let relying_party = relying_party(&self.address.of(request)?)?;
        let ceremony = self.passkeys.take(ceremony, None, now.as_secs()).await?.ok_or_else(refused)?;
        let state: DiscoverableAuthentication = serde_json::from_str(&ceremony.state).map_err(ApiError::internal)?;
        let named = relying_party.identify_discoverable_authentication(&credential);
        let (handle, id) = named.map_err(|_| refused())?;
        let (artist, id) = (ArtistId::of_user_handle(handle), PasskeyId::of(id));
        let stored = self.passkeys.find(artist, &id, now.as_secs()).await?.ok_or_else(refused)?;
        let mut passkey = credential_of(&stored)?;
        let result = relying_party.finish_discoverable_authentication_v2(&credential, state, &passkey);
        let result = result.map_err(|error| {
            // A counter that doesn't rise may be that of a clone: who is asked about an attack finds the line.
            tracing::info!(artist.id = %artist, passkey = %id, error = telemetry::chain(&error), "passkey refused");
            refused()
        })?;
        passkey.update_credential(&result);
        let credential = serde_json::to_string(&passkey).map_err(ApiError::internal)?;
        let session = self.sign_in.open_with_passkey(artist, id, now).await?.ok_or_else(refused)?;
        if !self.passkeys.note_use(artist, &stored, credential, now.as_secs()).await? {
            return Err(refused());
        }
        Ok(session)
    }
}

/// One answer for every reason: it must not reveal whose passkeys there are.
fn refused() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The passkey is not known here, or answered something else or too late: try again")
}
