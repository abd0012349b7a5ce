//! `POST /oauth/passkey/challenge`: says what a passkey is to answer to sign in.

use std::time::Duration;

use auth::{
    challenge_passkey_sign_in::ChallengePasskeySignInRequest,
    passkey::{CeremonyResponse, relying_party},
};
use shared::{
    auth::{device_limit::DeviceLimit, service_address::ServiceAddress},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::secret::{Passkeys, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChallengePasskeySignIn>().await
}

struct ChallengePasskeySignIn {
    address: ServiceAddress,
    passkeys: Passkeys,
    clients: DeviceLimit,
}

impl Endpoint for ChallengePasskeySignIn {
    /// Reads `CHALLENGES_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::CHALLENGES_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            address: ServiceAddress::from_env(),
            passkeys: Passkeys::new(secrets.clone()),
            clients: DeviceLimit::new(secrets, "passkey-challenge", most, HOUR),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ChallengePasskeySignInRequest { device_token } = request.json_or_empty()?.read()?;
        let now = clock::now()?;
        let state = self.clients.admit(request, device_token.as_ref(), now).await?;
        request.note_limits(&[state]);
        let relying_party = relying_party(&self.address.of(request)?)?;
        let (options, state) = relying_party.start_discoverable_authentication().map_err(ApiError::internal)?;
        let state = serde_json::to_string(&state).map_err(ApiError::internal)?;
        let ceremony = self.passkeys.begin(state, None, now.as_secs()).await?;
        let public_key = serde_json::to_value(options.public_key).map_err(ApiError::internal)?;
        Response::json(&CeremonyResponse { ceremony, public_key })
    }
}
