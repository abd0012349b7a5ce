//! `POST /oauth/link`: exchanges the link of a mail for a token, and makes the device known.

use std::time::Duration;

use auth::{
    log_in::LogInResponse,
    sign_in::{Session, SignIn, SignInDevice},
    use_link::{UseLinkRequest, UseLinkResponse},
};
use shared::{
    auth::{client_limit::ClientLimit, page_session},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::SignInLink,
    store::secret::{Codes, SecretTable, StoredLink},
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UseLink>().await
}

struct UseLink {
    codes: Codes,
    attempts: ClientLimit,
    sign_in: SignIn,
}

impl Endpoint for UseLink {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::SIGN_INS_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            attempts: ClientLimit::new(secrets.clone(), "link", most, HOUR),
            sign_in: SignIn::from_env(&aws, &secrets)?,
            codes: Codes::new(secrets),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let UseLinkRequest { link } = request.json()?.read()?;
        let now = clock::now()?;
        // Nobody guesses 128 bits.
        let proof = self.open(&link, now).await;
        let (stored, session) = self.attempts.unless_proved(request, proof, now).await?;
        let device_token = self.sign_in.complete(request, &stored.email, &session, SignInDevice::New, now).await;
        let signed_in = LogInResponse::new(session, device_token.as_ref());
        let answer = UseLinkResponse { signed_in, email: stored.email };
        page_session::begin(request, Response::json(&answer)?, &answer.signed_in.token)
    }
}

impl UseLink {
    /// The session of a link, which is used up.
    async fn open(&self, link: &SignInLink, now: Duration) -> Result<(StoredLink, Session), ApiError> {
        let stored = self.codes.link(link, now.as_secs()).await?.ok_or_else(dead_link)?;
        let session = self.sign_in.open(&stored.email, now).await?;
        if !self.codes.remove_link(link, &stored).await? {
            return Err(dead_link());
        }
        Ok((stored, session))
    }
}

fn dead_link() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The link was used or is no longer valid: ask for another mail")
}
