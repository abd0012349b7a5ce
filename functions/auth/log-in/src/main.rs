//! `POST /oauth/login`: exchanges a mailed code for a token. The first sign-in creates the artist.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    api::activity::ActivityRetention,
    auth::{
        client_limit::ClientLimit,
        service_address::ServiceAddress,
        sign_in_code::{SignInCodes, holder},
        token::TokenIssuer,
    },
    chain::wallet::{EmbeddedWallet, OperatorAccount},
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    kms::MacKey,
    mail::{Mailer, Notice},
    model::{ActivityKind, Address, ArtistId, Email, Nonce, OneTimeCode},
    store::{Activities, Artist, Artists, Codes, Guesses, MAX_WRONG_TRIES, StoreError, Table},
    telemetry::{self, Metric},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(LogIn::from_env().await?).await
}

struct LogIn {
    codes: SignInCodes,
    artists: Artists,
    operator: OperatorAccount,
    tokens: TokenIssuer,
    activities: Activities,
    retention: ActivityRetention,
    tries: ClientLimit,
    guesses: Guesses,
    mailer: Mailer,
    address: ServiceAddress,
}

/// The code and its address.
#[derive(FromFields, ToSchema)]
struct LogInRequest {
    /// Address that got the code.
    email: Email,
    /// Six digits.
    code: OneTimeCode,
    /// The nonce that the code was asked for with, if there was one.
    nonce: Option<Nonce>,
}

/// The credential of a signed-in artist.
#[derive(Serialize, ToSchema)]
struct LogInResponse {
    /// A JWT, valid for an hour.
    token: String,
    /// The artist's embedded wallet: the same at every sign-in, deployed by the first write.
    social_wallet: Address,
}

impl LogIn {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (120) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed_or("SIGN_INS_PER_CLIENT_HOURLY", "120")?);
        let secrets = Table::secrets(&aws)?;
        Ok(Self {
            tries: ClientLimit::new(secrets.clone(), "sign-in", most, HOUR),
            codes: SignInCodes::new(Codes::new(secrets.clone()), MacKey::from_env(&aws, "CODE_KEY_ID")?),
            guesses: Guesses::new(secrets),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
            artists: Artists::new(Table::artists(&aws)?),
            activities: Activities::new(Table::artists(&aws)?),
            retention: ActivityRetention::from_env()?,
            operator: OperatorAccount::from_env()?,
            tokens: TokenIssuer::from_env(&aws)?,
        })
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
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let LogInRequest { email, code, nonce } = request.json()?.read()?;
        let now = clock::now()?;
        self.tries.admit(request, now).await?;
        let (mailbox, client) = (email.mailbox(), request.client_hash());
        let standing = self.guesses.standing(&mailbox, &client, now.as_secs()).await?;
        if standing.pause_until > now.as_secs() && !standing.is_known_client {
            return Err(wrong_code());
        }
        let checked = self.codes.check(&email, &code, &holder(nonce.as_ref(), &client), now).await?;
        let Some(issued) = checked else {
            self.count_wrong(request, &email, now).await?;
            return Err(wrong_code());
        };
        let artist = self.find_or_create(&email, now).await?;
        let token = self.tokens.issue(artist.artist_id, now).await?;
        // The code is consumed last, so that a failure before costs a try, not the code.
        if !self.codes.withdraw(&issued).await? {
            return Err(wrong_code());
        }
        self.remember(request, &artist, &mailbox, now).await;
        telemetry::count(Metric::SignIns);
        Response::json(&LogInResponse { token, social_wallet: artist.embedded_wallet })
    }
}

impl LogIn {
    /// Tells the owner of the mailbox once strangers have to pause.
    async fn count_wrong(&self, request: &Request, email: &Email, now: Duration) -> Result<(), ApiError> {
        if self.guesses.count_wrong(&email.mailbox(), now.as_secs()).await? != MAX_WRONG_TRIES {
            return Ok(());
        }
        let (when, origin) = (clock::iso_8601(now.as_secs())?, self.address.of(request)?);
        let (network, origin) = (request.client_network(), origin.as_str().trim_end_matches('/'));
        let what = "Somebody tried 100 wrong sign-in codes for this address, and has to pause now";
        let notice = Notice { what, subject: "", when: &when, network: &network, origin };
        if let Err(error) = self.mailer.send_notice(email, &notice).await {
            tracing::error!(request.id = request.id(), error = telemetry::chain(&error), "notice not sent");
        }
        Ok(())
    }

    /// Records the sign-in; it doesn't fail, since the code is used up.
    async fn remember(&self, request: &Request, artist: &Artist, mailbox: &str, now: Duration) {
        let forgiven = self.guesses.forgive(mailbox, &request.client_hash(), now.as_secs()).await;
        let recorded = match self.retention.activity(request, ActivityKind::SignedIn, "") {
            Ok(activity) => self.activities.record(artist.artist_id, &activity).await,
            Err(_) => Ok(()),
        };
        for error in [forgiven, recorded].into_iter().filter_map(Result::err) {
            tracing::error!(request.id = request.id(), error = telemetry::chain(&error), "sign-in not recorded");
        }
    }
}

/// One answer for every reason: it must not reveal which addresses have a code.
fn wrong_code() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The code is wrong or no longer valid: ask for a new one")
}
