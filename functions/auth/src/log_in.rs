//! Contract of `POST /oauth/login`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, DeviceToken, Email, Nonce, OneTimeCode},
};
use utoipa::ToSchema;

use crate::sign_in::Session;

/// The code and its address.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct LogInRequest {
    /// Address that got the code.
    pub email: Email,
    /// Six digits.
    pub code: OneTimeCode,
    /// The nonce with which the code was requested, if any.
    pub nonce: Option<Nonce>,
    /// The token of a device on which the artist signed in before.
    pub device_token: Option<DeviceToken>,
    /// Answer with a `deviceToken`, unless the request has a known one.
    #[schema(value_type = Option<bool>, default = json!(false))]
    pub remember: bool,
}

/// The credential of a signed-in artist.
#[derive(Serialize, ToSchema)]
pub struct LogInResponse {
    /// A JWT, valid for an hour.
    pub token: String,
    /// The artist's embedded wallet: the same at every sign-in, deployed by the first write.
    pub social_wallet: Address,
    /// For this device, if it was asked for: send it with later codes and sign-ins. It expires a year after the last one.
    #[serde(rename = "deviceToken", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DeviceToken>, required = false)]
    pub device_token: Option<String>,
}

impl LogInResponse {
    /// The answer to a sign-in.
    pub fn new(session: Session, device: Option<&DeviceToken>) -> Self {
        let device_token = device.map(|token| token.reveal().to_owned());
        Self { token: session.token.text, social_wallet: session.wallet, device_token }
    }
}

/// Sign in
///
/// Exchanges a mailed code for a token, valid for an hour. If the code was requested with a `nonce`, the same `nonce` is
/// required. The first sign-in creates the artist and their embedded wallet. After 100 wrong codes in a row for a mailbox,
/// codes only work with a known `deviceToken`; the link in the mail always works.
#[utoipa::path(
    post,
    path = "/oauth/login",
    tag = "Sign-in",
    request_body(content = LogInRequest, example = json!({"email": "ada@example.com", "code": "123456"})),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
    extensions(("x-errors" = json!([401, 429]))),
)]
pub fn log_in() {}
