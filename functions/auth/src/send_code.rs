//! Contract of `POST /oauth/code`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Email, Nonce},
};
use utoipa::ToSchema;

/// The recipient.
#[derive(FromFields, ToSchema)]
pub struct SendCodeRequest {
    /// Address of the mail.
    pub email: Email,
    /// Any random text. Send it to `POST /oauth/login`, too: without it nobody can use the code or its attempts.
    pub nonce: Option<Nonce>,
}

/// The code is on its way.
#[derive(Serialize, ToSchema)]
pub struct SendCodeResponse {
    /// The mail was sent. The answer is the same for unknown addresses.
    pub success: bool,
}

/// Mail a sign-in code
///
/// The code has 6 digits, is valid for 10 minutes and 5 attempts, and replaces the previous one. The answer is the
/// same for known and unknown addresses. One client can send a mailbox 3 codes in 10 minutes and 10 a day, regardless
/// of the address's `+tag`. With a `nonce`, only a client that has it can use the code or its attempts.
#[utoipa::path(
    post,
    path = "/oauth/code",
    tag = "Sign-in",
    request_body(content = SendCodeRequest, example = json!({"email": "ada@example.com"})),
    responses((status = 200, description = "The code was mailed.", body = SendCodeResponse)),
    extensions(("x-errors" = json!([429, 502, 503]))),
)]
pub fn send_code() {}
