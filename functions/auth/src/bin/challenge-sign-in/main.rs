//! `POST /oauth/wallet/challenge`: issues a message to sign in with.

use std::time::Duration;

use auth::challenge_sign_in::{ChallengeSignInRequest, ChallengeSignInResponse};
use shared::{
    auth::{
        device_limit::DeviceLimit,
        service_address::ServiceAddress,
        wallet_proof::{Challenger, Purpose},
    },
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::CheckedAddress,
    store::secret::{Challenges, SecretTable, StoredChallenge},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChallengeSignIn>().await
}

struct ChallengeSignIn {
    chains: Chains,
    address: ServiceAddress,
    challenges: Challenges,
    clients: DeviceLimit,
}

impl Endpoint for ChallengeSignIn {
    /// Reads `CHALLENGES_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::CHALLENGES_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            chains: Chains::from_env()?,
            address: ServiceAddress::from_env(),
            challenges: Challenges::new(secrets.clone()),
            clients: DeviceLimit::new(secrets, "sign-in-challenge", most, HOUR),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ChallengeSignInRequest { address: CheckedAddress(address), chain_id: chain, device_token } =
            request.json()?.read_for(&self.chains)?;
        let now = clock::now()?;
        let state = self.clients.admit(request, device_token.as_ref(), now).await?;
        request.note_limits(&[state]);
        let message = Challenger::new(self.address.of(request)?).message(address, chain, Purpose::SignIn, now)?;
        self.challenges.put(&StoredChallenge::new(message.as_str(), None, address, chain, now.as_secs())).await?;
        Response::json(&ChallengeSignInResponse { message: message.as_str() })
    }
}
