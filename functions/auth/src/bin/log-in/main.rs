//! `POST /oauth/login`: exchanges a mailed code for a token. The first sign-in creates the artist.

use std::time::Duration;

use auth::{
    log_in::{LogInRequest, LogInResponse},
    sign_in::{SignIn, SignInDevice},
};
use shared::{
    api::notice::NoticeMailer,
    auth::{
        client_limit::ClientLimit,
        page_session,
        sign_in_code::{SignInCodes, holder},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    model::{DeviceId, DeviceToken, Email},
    store::secret::{Codes, FailedCodes, MAX_FAILED_CODES, SecretTable, SignInHistory},
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<LogIn>().await
}

struct LogIn {
    codes: SignInCodes,
    attempts: ClientLimit,
    failed_codes: FailedCodes,
    notices: NoticeMailer,
    sign_in: SignIn,
}

impl Endpoint for LogIn {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::SIGN_INS_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            attempts: ClientLimit::new(secrets.clone(), "sign-in", most, HOUR),
            codes: SignInCodes::new(
                Codes::new(secrets.clone()),
                MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?,
            ),
            failed_codes: FailedCodes::new(secrets.clone()),
            notices: NoticeMailer::from_env(&aws, secrets.clone())?,
            sign_in: SignIn::from_env(&aws, &secrets)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let LogInRequest { email, code, nonce, device_token, remember } = request.json()?.read()?;
        let now = clock::now()?;
        let device = device_token.as_ref().map(DeviceToken::id);
        let (history, known_device) = self.admit(request, &email, device, now).await?;
        let holder = holder(nonce.as_ref(), known_device.as_ref(), &request.client_hash());
        let checked = self.codes.check(&email, &code, &holder, now).await?;
        let Some(matching) = checked.matching else {
            self.count_failure(request, &email, history, known_device.as_ref(), checked.compared, now).await?;
            return Err(wrong_code());
        };
        let session = self.sign_in.open(&email, now).await?;
        // The code is consumed last, so that an earlier failure costs an attempt, not the code.
        if !self.codes.use_code(&email, &matching).await? {
            return Err(wrong_code());
        }
        let device = match known_device {
            Some(id) => SignInDevice::Known(id),
            None if remember => SignInDevice::New,
            None => SignInDevice::Unknown,
        };
        let device_token = self.sign_in.complete(request, &email, &session, device, now).await;
        let answer = LogInResponse::new(session, device_token.as_ref());
        page_session::begin(request, Response::json(&answer)?, &answer.token)
    }
}

impl LogIn {
    /// Counts the request for its network, whose limit a known device is free of; 401 where codes don't work.
    async fn admit(
        &self,
        request: &Request,
        email: &Email,
        device: Option<DeviceId>,
        now: Duration,
    ) -> Result<(SignInHistory, Option<DeviceId>), ApiError> {
        let history = async { Ok(self.failed_codes.history(email, device.as_ref(), now.as_secs()).await?) };
        let admitted = self.attempts.admit(request, now);
        let (history, admitted): (Result<SignInHistory, ApiError>, _) = tokio::join!(history, admitted);
        let history = history?;
        if !history.is_known_device {
            admitted?;
        }
        if !history.takes_codes() {
            telemetry::count(Metric::SignInsRefused);
            return Err(ApiError::unauthorized(
                "Many wrong codes were tried for this address, so codes only work on devices that it signed in on \
                 before: ask for a mail and open the link in it",
            ));
        }
        Ok((history, device.filter(|_| history.is_known_device)))
    }

    /// Counts tries that were compared with a code; tells the owner of a mailbox that signed in before when codes stop
    /// working on unknown devices.
    async fn count_failure(
        &self,
        request: &Request,
        email: &Email,
        history: SignInHistory,
        device: Option<&DeviceId>,
        compared: u32,
        now: Duration,
    ) -> Result<(), ApiError> {
        if compared == 0 {
            return Ok(());
        }
        let wrong = self.failed_codes.count_wrong(email, device, compared, now.as_secs()).await?;
        // As rows name the mailbox: who is asked about an attack can find it, and nobody reads an address here.
        tracing::info!(mailbox = email.mailbox(), wrong, is_known_device = device.is_some(), "wrong sign-in code");
        let is_first_over = (MAX_FAILED_CODES..MAX_FAILED_CODES + compared).contains(&wrong);
        if is_first_over && device.is_none() && history.is_known_mailbox {
            self.notices.send_guessing(request, email).await;
        }
        Ok(())
    }
}

/// One answer for every reason: it must not reveal which addresses have a code.
fn wrong_code() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The code is wrong or no longer valid: check it, or ask for a new one")
}
