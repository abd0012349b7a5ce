//! `POST /oauth/login`: turns a mailed code into a token. The first sign-in makes the artist.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    auth::{sign_in_code::SignInCodes, token::TokenIssuer},
    chain::account::Lanes,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    kms::MacKey,
    model::{Address, ArtistId, Email, OneTimeCode},
    store::{Artist, Artists, Codes, StoreError, Table},
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
    lanes: Lanes,
    tokens: TokenIssuer,
}

/// The body of the request.
#[derive(ToSchema)]
struct LogInRequest {
    /// The address that the code was sent to.
    email: Email,
    /// Its 6 digits.
    code: OneTimeCode,
}

#[derive(Serialize, ToSchema)]
struct LogInResponse {
    /// A JWT, valid for an hour.
    token: String,
    /// The account that the service keeps for the artist: the same at every sign-in, deployed by their first write.
    social_wallet: Address,
}

impl LogIn {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            codes: SignInCodes::new(Codes::new(Table::secrets(&aws)?), MacKey::from_env(&aws, "CODE_KEY_ID")?),
            artists: Artists::new(Table::artists(&aws)?),
            lanes: Lanes::from_env()?,
            tokens: TokenIssuer::from_env(&aws)?,
        })
    }

    async fn find_or_create(&self, email: &Email, now: Duration) -> Result<Artist, StoreError> {
        if let Some(artist) = self.artists.find_by_email(email).await? {
            return Ok(artist);
        }
        let artist_id = ArtistId::random();
        let wallet = self.lanes.assign(artist_id);
        let artist = Artist { artist_id, embedded_wallet: wallet.address().into(), lane: wallet.owner.into() };
        if self.artists.create(email, &artist, now.as_secs()).await? {
            return Ok(artist);
        }
        // Someone with the same code was faster: the artist is there now.
        self.artists.find_by_email(email).await?.ok_or(StoreError::Contention("artists"))
    }
}

impl Endpoint for LogIn {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let LogInRequest { email, code } = LogInRequest::parse(request)?;
        let now = clock::now()?;
        let issued = self.codes.check(&email, &code, now).await?.ok_or_else(wrong_code)?;
        let artist = self.find_or_create(&email, now).await?;
        let token = self.tokens.issue(artist.artist_id, now).await?;
        // The code is used up last, so that a failure on the way costs a try and not the code.
        if !self.codes.withdraw(&issued).await? {
            return Err(wrong_code());
        }
        telemetry::count(Metric::SignIns);
        Response::json(&LogInResponse { token, social_wallet: artist.embedded_wallet })
    }
}

impl LogInRequest {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let email = fields.required("email");
        let code = fields.required("code");
        fields.finish(|| Some(Self { email: email?, code: code? }))
    }
}

/// One answer for every reason, so that it tells nothing of which addresses have a code.
fn wrong_code() -> ApiError {
    telemetry::count(Metric::SignInsRefused);
    ApiError::unauthorized("The code is wrong or no longer valid: ask for a new one")
}
