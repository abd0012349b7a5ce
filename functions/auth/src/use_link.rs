//! Contract of `POST /oauth/link`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Email, SignInLink},
};
use utoipa::ToSchema;

use crate::log_in::LogInResponse;

/// The link.
#[derive(FromFields, ToSchema)]
pub struct UseLinkRequest {
    /// What stands behind `#link=` in the mail's link.
    pub link: SignInLink,
}

/// The credential of a signed-in artist.
#[derive(Serialize, ToSchema)]
pub struct UseLinkResponse {
    #[serde(flatten)]
    pub signed_in: LogInResponse,
    /// Address of the mail.
    pub email: Email,
}

/// Sign in by link
///
/// Exchanges the link in a mail for a token, valid for an hour, on any device. It works once, and the code of its mail no
/// longer works. The answer has a `deviceToken`.
#[utoipa::path(
    post,
    path = "/oauth/link",
    tag = "Sign-in",
    request_body(content = UseLinkRequest, example = json!({
        "link": "tzDP2OZ_BkGuSgOFBWbKQBTqpQmnJkGN0yYkD7bTAgqfh0wXqzM5FTBfcpYv0vA1",
    })),
    responses((status = 200, description = "Signed in.", body = UseLinkResponse)),
    extensions(("x-errors" = json!([401, 429]))),
)]
pub fn use_link() {}
