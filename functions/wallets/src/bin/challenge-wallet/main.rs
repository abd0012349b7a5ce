//! `POST /artists/wallets/challenge`: issues a message to sign as proof of a wallet's ownership.

use std::time::Duration;

use shared::{
    api::error::no_artist,
    auth::{
        client_limit::ClientLimit,
        rate_limit::{self, Limit},
        service_address::ServiceAddress,
        session::SessionAuthenticator,
        wallet_proof::{Challenger, Purpose},
    },
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, CheckedAddress},
    store::{
        artist::{ArtistTable, Artists},
        secret::{Challenges, RateWindows, SecretTable, StoredChallenge},
    },
};
use wallets::challenge_wallet::{ChallengeWalletRequest, ChallengeWalletResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChallengeWallet>().await
}

struct ChallengeWallet {
    sessions: SessionAuthenticator,
    chains: Chains,
    artists: Artists,
    address: ServiceAddress,
    challenges: Challenges,
    windows: RateWindows,
    clients: ClientLimit,
}

fn limit(artist: ArtistId) -> Limit {
    Limit {
        subject: format!("challenge#artist#{artist}"),
        max: 20,
        window: Duration::from_secs(10 * 60),
        message: "Too many messages to sign were asked for: use the newest one, or wait",
    }
}

impl Endpoint for ChallengeWallet {
    /// Reads `CHALLENGES_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::CHALLENGES_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            chains: Chains::from_env()?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            address: ServiceAddress::from_env(),
            challenges: Challenges::new(secrets.clone()),
            windows: RateWindows::new(secrets.clone()),
            clients: ClientLimit::new(secrets, "challenge", most, HOUR),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let ChallengeWalletRequest { address: CheckedAddress(address), chain_id: chain } =
            request.json()?.read_for(&self.chains)?;
        let mut states = vec![self.clients.admit(request, now).await?];
        states.extend(rate_limit::admit(&self.windows, &[limit(artist)], now).await?);
        request.note_limits(&states);
        let account = self.artists.profile(artist).await?.ok_or_else(no_artist)?.artist.embedded_wallet;
        let challenger = Challenger::new(self.address.of(request)?);
        let message = challenger.message(address, chain, Purpose::Connect(account), now)?;
        let challenge = StoredChallenge::new(message.as_str(), Some(artist), address, chain, now.as_secs());
        self.challenges.put(&challenge).await?;
        Response::json(&ChallengeWalletResponse { message: message.as_str() })
    }
}
