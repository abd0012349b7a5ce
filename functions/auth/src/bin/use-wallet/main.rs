//! `POST /oauth/wallet`: exchanges a signed message of `POST /oauth/wallet/challenge` for a token. A wallet that is nobody's
//! creates the artist.

use std::time::Duration;

use auth::{
    log_in::LogInResponse,
    sign_in::{Session, SignIn},
    use_wallet::UseWalletRequest,
};
use shared::{
    api::wallet_verifier::WalletVerifier,
    auth::{client_limit::ClientLimit, page_session},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::secret::{Challenges, SecretTable, StoredChallenge},
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UseWallet>().await
}

struct UseWallet {
    challenges: Challenges,
    verifier: WalletVerifier,
    attempts: ClientLimit,
    questions: ClientLimit,
    sign_in: SignIn,
}

impl Endpoint for UseWallet {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::SIGN_INS_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            attempts: ClientLimit::new(secrets.clone(), "wallet", most, HOUR),
            questions: ClientLimit::new(secrets.clone(), "wallet#node", most, HOUR),
            verifier: WalletVerifier::from_env(&aws).await?,
            sign_in: SignIn::from_env(&aws, &secrets)?,
            challenges: Challenges::new(secrets),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let asked: UseWalletRequest = request.json()?.read()?;
        let now = clock::now()?;
        let challenge = self.challenges.count_try(asked.message.as_str(), None, now.as_secs()).await?;
        let challenge = self.attempts.unless_proved(request, challenge.ok_or_else(unknown_message), now).await?;
        let session = if asked.signature.is_of_key(challenge.wallet, &asked.message.hash()) {
            self.attempts.unless_proved(request, self.open(&challenge, &asked, now).await, now).await?
        } else {
            // A node is asked, which costs: whatever it says is counted, apart from refusals, which cost nothing.
            self.questions.admit(request, now).await?;
            self.open(&challenge, &asked, now).await?
        };
        self.sign_in.record(request, &session, now).await;
        let answer = LogInResponse::new(session, None);
        page_session::begin(request, Response::json(&answer)?, &answer.token)
    }
}

impl UseWallet {
    /// The session of a wallet that signed a message, which is used up.
    async fn open(
        &self,
        challenge: &StoredChallenge,
        UseWalletRequest { message, signature }: &UseWalletRequest,
        now: Duration,
    ) -> Result<Session, ApiError> {
        let wallet = self.verifier.verify(challenge, message, signature).await?;
        let wallet = wallet.map_err(|reason| refused(format!("The signature {reason}")))?;
        let session = self.sign_in.open_with_wallet(wallet, challenge.chain, now).await?;
        // The message is consumed last, so that an earlier failure costs an attempt, not the message.
        if !self.challenges.redeem(challenge).await? {
            return Err(unknown_message());
        }
        Ok(session)
    }
}

fn unknown_message() -> ApiError {
    refused(
        "The message was not given out for a sign-in, has expired or was used: get a new one from \
         POST /oauth/wallet/challenge",
    )
}

fn refused(reason: impl Into<String>) -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized(reason)
}
