//! `POST /artists/wallets/challenge`: hands out a message whose signature proves that a wallet is the caller's.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    auth::{
        caller::CallerAuthenticator,
        rate_limit::{self, Limit},
        wallet_proof::Challenger,
    },
    chain::Chains,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ArtistId, ChainId, CheckedAddress},
    profile::no_artist,
    store::{Artists, Challenges, RateWindows, StoredChallenge, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ChallengeWallet::from_env().await?).await
}

struct ChallengeWallet {
    callers: CallerAuthenticator,
    chains: Chains,
    artists: Artists,
    challenger: Challenger,
    challenges: Challenges,
    windows: RateWindows,
    per_client_hourly: u32,
}

/// The body of the request.
#[derive(ToSchema)]
struct ChallengeWalletRequest {
    /// The wallet that is to be connected.
    #[schema(value_type = CheckedAddress)]
    address: Address,
    /// Where a contract wallet is.
    #[schema(rename = "chainId", value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain: ChainId,
}

#[derive(Serialize, ToSchema)]
struct ChallengeWalletResponse<'a> {
    /// What the wallet is to sign: a message of EIP-4361, good for one use within 10 minutes.
    message: &'a str,
}

impl ChallengeWallet {
    /// Reads `CHALLENGES_PER_CLIENT_HOURLY` (60) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = Table::secrets(&aws)?;
        Ok(Self {
            callers: CallerAuthenticator::from_env(secrets.clone())?,
            chains: Chains::from_env()?,
            artists: Artists::new(Table::artists(&aws)?),
            challenger: Challenger::from_env()?,
            challenges: Challenges::new(secrets.clone()),
            windows: RateWindows::new(secrets),
            per_client_hourly: config::parsed_or("CHALLENGES_PER_CLIENT_HOURLY", "60")?,
        })
    }

    fn limits(&self, artist: ArtistId, request: &Request) -> [Limit; 2] {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        [
            Limit {
                subject: format!("challenge#artist#{artist}"),
                max: 20,
                window: HOUR / 6,
                message: "Too many messages to sign were asked for: use the newest one, or wait",
            },
            Limit {
                subject: format!("challenge#client#{}", request.client_network()),
                max: self.per_client_hourly,
                window: HOUR,
                message: "Too many messages to sign were asked for from your network: wait",
            },
        ]
    }
}

impl Endpoint for ChallengeWallet {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.callers.authenticate(request, now).await?;
        let ChallengeWalletRequest { address, chain } = ChallengeWalletRequest::parse(request, &self.chains)?;
        request.note_limits(&rate_limit::admit(&self.windows, &self.limits(artist, request), now).await?);
        let account = self.artists.profile(artist).await?.ok_or_else(no_artist)?.artist.embedded_wallet;
        let message = self.challenger.message(address, chain, account, now)?;
        self.challenges.put(&StoredChallenge::new(message.as_str(), artist, address, chain, now.as_secs())).await?;
        Response::json(&ChallengeWalletResponse { message: message.as_str() })
    }
}

impl ChallengeWalletRequest {
    fn parse(request: &Request, chains: &Chains) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let address = fields.required::<CheckedAddress>("address");
        let chain = fields.optional_number_or("chainId", ChainId::DEFAULT);
        if let Some(Err(error)) = chain.map(|chain| chains.get(chain)) {
            fields.refuse("chainId", error);
        }
        fields.finish(|| Some(Self { address: address?.0, chain: chain? }))
    }
}
