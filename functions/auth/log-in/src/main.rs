//! `POST /oauth/login`: exchanges a mailed code for a token. The first sign-in creates the artist.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    api::activity::ActivityRetention,
    auth::{client_limit::ClientLimit, sign_in_code::SignInCodes, token::TokenIssuer},
    chain::wallet::{EmbeddedWallet, OperatorAccount},
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    kms::MacKey,
    model::{ActivityKind, Address, ArtistId, Email, OneTimeCode},
    store::{Activities, Artist, Artists, Codes, StoreError, Table},
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
}

/// The code and its address.
#[derive(FromFields, ToSchema)]
struct LogInRequest {
    /// Address that got the code.
    email: Email,
    /// Six digits.
    code: OneTimeCode,
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
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed_or("SIGN_INS_PER_CLIENT_HOURLY", "120")?);
        let secrets = Table::secrets(&aws)?;
        Ok(Self {
            tries: ClientLimit::new(secrets.clone(), "sign-in", most, HOUR),
            codes: SignInCodes::new(Codes::new(secrets), MacKey::from_env(&aws, "CODE_KEY_ID")?),
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
        let LogInRequest { email, code } = request.json()?.read()?;
        let now = clock::now()?;
        self.tries.admit(request, now).await?;
        let issued = self.codes.check(&email, &code, now).await?.ok_or_else(wrong_code)?;
        let artist = self.find_or_create(&email, now).await?;
        let token = self.tokens.issue(artist.artist_id, now).await?;
        // The code is consumed last, so that a failure before costs a try, not the code.
        if !self.codes.withdraw(&issued).await? {
            return Err(wrong_code());
        }
        let signed_in = self.retention.activity(request, ActivityKind::SignedIn, "")?;
        if let Err(error) = self.activities.record(artist.artist_id, &signed_in).await {
            tracing::error!(request.id = request.id(), error = telemetry::chain(&error), "sign-in not recorded");
        }
        telemetry::count(Metric::SignIns);
        Response::json(&LogInResponse { token, social_wallet: artist.embedded_wallet })
    }
}

/// One answer for every reason: it must not reveal which addresses have a code.
fn wrong_code() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The code is wrong or no longer valid: ask for a new one")
}
