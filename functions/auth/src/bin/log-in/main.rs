//! `POST /oauth/login`: exchanges a mailed code for a token. The first sign-in creates the artist.

use std::time::Duration;

use auth::log_in::{LogInRequest, LogInResponse};
use shared::{
    api::activity::ActivityRetention,
    auth::{
        client_limit::ClientLimit,
        service_address::ServiceAddress,
        sign_in_code::{SignInCodes, holder},
        token::TokenIssuer,
    },
    chain::wallet::{EmbeddedWallet, OperatorAccount},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKey,
    mail::{Mailer, Notice},
    model::{ActivityKind, ArtistId, Email},
    store::{
        StoreError,
        artist::{Activities, Artist, ArtistTable, Artists, Cancelled, Deletions},
        secret::{Codes, FailedCodes, MAX_FAILED_CODES, SecretTable},
    },
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<LogIn>().await
}

struct LogIn {
    codes: SignInCodes,
    artists: Artists,
    deletions: Deletions,
    operator: OperatorAccount,
    tokens: TokenIssuer,
    activities: Activities,
    retention: ActivityRetention,
    attempts: ClientLimit,
    failed_codes: FailedCodes,
    mailer: Mailer,
    address: ServiceAddress,
}

impl LogIn {
    /// Finds or creates the artist, and cancels the deletion of the account; if it has begun, the address gets a new
    /// account.
    async fn sign_in(&self, email: &Email, now: Duration) -> Result<(Artist, Cancelled), StoreError> {
        let artist = self.find_or_create(email, now).await?;
        match self.deletions.take_back(artist.artist_id).await? {
            Cancelled::TooLate => Ok((self.find_or_create(email, now).await?, Cancelled::Nothing)),
            cancelled => Ok((artist, cancelled)),
        }
    }

    async fn find_or_create(&self, email: &Email, now: Duration) -> Result<Artist, StoreError> {
        if let Some(artist) = self.artists.find_by_email(email).await? {
            return Ok(artist);
        }
        let artist_id = ArtistId::random();
        let wallet = EmbeddedWallet::new(self.operator.safe, artist_id);
        let artist = Artist { artist_id, embedded_wallet: wallet.address().into() };
        if self.artists.create(email, &artist, now.as_secs()).await? {
            return Ok(artist);
        }
        // A concurrent sign-in created the artist.
        self.artists.find_by_email(email).await?.ok_or(StoreError::Contention("artists"))
    }
}

impl Endpoint for LogIn {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (120) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed_or("SIGN_INS_PER_CLIENT_HOURLY", "120")?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            attempts: ClientLimit::new(secrets.clone(), "sign-in", most, HOUR),
            codes: SignInCodes::new(Codes::new(secrets.clone()), MacKey::from_env(&aws, "CODE_KEY_ID")?),
            failed_codes: FailedCodes::new(secrets),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            deletions: Deletions::new(ArtistTable::from_env(&aws)?),
            activities: Activities::new(ArtistTable::from_env(&aws)?),
            retention: ActivityRetention::from_env()?,
            operator: OperatorAccount::from_env()?,
            tokens: TokenIssuer::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let LogInRequest { email, code, nonce } = request.json()?.read()?;
        let now = clock::now()?;
        self.attempts.admit(request, now).await?;
        let (mailbox, client) = (email.mailbox(), request.client_hash());
        let history = self.failed_codes.history(&mailbox, &client, now.as_secs()).await?;
        if history.pause_until > now.as_secs() && !history.is_known_client {
            return Err(wrong_code());
        }
        let checked = self.codes.check(&email, &code, &holder(nonce.as_ref(), &client), now).await?;
        let Some(issued) = checked else {
            self.count_failure(request, &email, now).await?;
            return Err(wrong_code());
        };
        let (artist, cancelled) = self.sign_in(&email, now).await?;
        let token = self.tokens.issue(artist.artist_id, now).await?;
        // The code is consumed last, so that an earlier failure costs an attempt, not the code.
        if !self.codes.withdraw(&issued).await? {
            return Err(wrong_code());
        }
        self.record_activity(request, &artist, ActivityKind::SignedIn).await;
        if cancelled == Cancelled::Done {
            self.record_activity(request, &artist, ActivityKind::DeletionCancelled).await;
            self.notify(request, &email, ActivityKind::DeletionCancelled.notice().unwrap_or_default(), now).await;
        }
        self.reset_failures(request, &mailbox, now).await;
        telemetry::count(Metric::SignIns);
        Response::json(&LogInResponse { token, social_wallet: artist.embedded_wallet })
    }
}

impl LogIn {
    /// Counts a wrong code; notifies the owner of the mailbox once strangers have to pause.
    async fn count_failure(&self, request: &Request, email: &Email, now: Duration) -> Result<(), ApiError> {
        if self.failed_codes.count_wrong(&email.mailbox(), now.as_secs()).await? != MAX_FAILED_CODES {
            return Ok(());
        }
        let what = "There were 100 failed sign-in attempts for this address. Further attempts from unknown devices are \
                    delayed.";
        self.notify(request, email, what, now).await;
        Ok(())
    }

    /// Mails a notice; a failure is only logged.
    async fn notify(&self, request: &Request, email: &Email, what: &str, now: Duration) {
        if let Err(error) = self.send_notice(request, email, what, now).await {
            tracing::error!(
                request.id = request.id(),
                error = error.cause().map(telemetry::chain),
                "notice of a sign-in not mailed"
            );
        }
    }

    async fn send_notice(&self, request: &Request, email: &Email, what: &str, now: Duration) -> Result<(), ApiError> {
        let (when, origin) = (clock::iso_8601(now.as_secs())?, self.address.of(request)?);
        let (network, origin) = (request.client_network(), origin.as_str().trim_end_matches('/'));
        let notice = Notice { what, subject: "", when: &when, network: &network, origin };
        let sent = self.mailer.send_notice(email, &notice).await;
        sent.map_err(|error| ApiError::bad_gateway("The mail wasn't sent", error))
    }

    /// Records the activity; a failure is only logged, since the code is used up.
    async fn record_activity(&self, request: &Request, artist: &Artist, kind: ActivityKind) {
        let Ok(activity) = self.retention.activity(request, kind, "") else { return };
        if let Err(error) = self.activities.record(artist.artist_id, &activity).await {
            tracing::error!(
                request.id = request.id(),
                error = telemetry::chain(&error),
                "activity of a sign-in not recorded"
            );
        }
    }

    /// Ends the streak of wrong codes; a failure is only logged.
    async fn reset_failures(&self, request: &Request, mailbox: &str, now: Duration) {
        if let Err(error) = self.failed_codes.reset_failures(mailbox, &request.client_hash(), now.as_secs()).await {
            tracing::error!(
                request.id = request.id(),
                error = telemetry::chain(&error),
                "failed sign-in codes not reset"
            );
        }
    }
}

/// One answer for every reason: it must not reveal which addresses have a code.
fn wrong_code() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The code is wrong or no longer valid: ask for a new one")
}
