//! Contract of `POST /oauth/code`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{DeviceToken, Email, Nonce},
};
use utoipa::ToSchema;

/// The recipient.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SendCodeRequest {
    /// Address of the mail.
    pub email: Email,
    /// Any random text. Send it to `POST /oauth/login`, too: without it nobody can use the code or its attempts.
    pub nonce: Option<Nonce>,
    /// The token of a device on which the artist signed in before: strangers' requests and tries don't touch its own.
    pub device_token: Option<DeviceToken>,
}

/// The code is on its way.
#[derive(Serialize, ToSchema)]
pub struct SendCodeResponse {
    /// The mail was sent. The answer is the same for unknown addresses.
    pub success: bool,
}

/// Mail a sign-in code
///
/// The mail has a code of 6 digits, valid for 10 minutes and 5 attempts, and a link for `POST /oauth/link`, valid for 15
/// minutes. The answer is the same for known and unknown addresses. A code replaces the one that the same network, nonce
/// or device asked for; without a `nonce` the newest works on any device. After 100 wrong codes in a row the mail has the
/// link alone, except for known devices. One device or network can send a mailbox 3 mails in 10 minutes and 10 a day, all
/// unknown ones together 20 a day, whatever its `+tag`; after that, a mail when the last link is about to expire.
#[utoipa::path(
    post,
    path = "/oauth/code",
    tag = "Sign-in",
    request_body(content = SendCodeRequest, example = json!({"email": "ada@example.com"})),
    responses((status = 200, description = "The code was mailed.", body = SendCodeResponse)),
    extensions(("x-errors" = json!([422, 429, 502, 503]))),
)]
pub fn send_code() {}
