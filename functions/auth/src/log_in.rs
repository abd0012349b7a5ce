//! Contract of `POST /oauth/login`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, Email, Nonce, OneTimeCode},
};
use utoipa::ToSchema;

/// The code and its address.
#[derive(FromFields, ToSchema)]
pub struct LogInRequest {
    /// Address that got the code.
    pub email: Email,
    /// Six digits.
    pub code: OneTimeCode,
    /// The nonce with which the code was requested, if any.
    pub nonce: Option<Nonce>,
}

/// The credential of a signed-in artist.
#[derive(Serialize, ToSchema)]
pub struct LogInResponse {
    /// A JWT, valid for an hour.
    pub token: String,
    /// The artist's embedded wallet: the same at every sign-in, deployed by the first write.
    pub social_wallet: Address,
}

/// Sign in
///
/// Exchanges the newest mailed code for a token, valid for an hour. If the code was requested with a `nonce`, the
/// same `nonce` is required. The first sign-in creates the artist and their embedded wallet.
#[utoipa::path(
    post,
    path = "/oauth/login",
    tag = "Sign-in",
    request_body(content = LogInRequest, example = json!({"email": "ada@example.com", "code": "123456"})),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
    extensions(("x-errors" = json!([401, 429]))),
)]
pub fn log_in() {}
