//! Contract of `POST /artists/email`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Email, OneTimeCode},
};
use utoipa::ToSchema;

/// The new address and what was mailed.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChangeEmailRequest {
    /// The new address.
    pub email: Email,
    /// The code that it got.
    pub code: OneTimeCode,
    /// The code that the present address got; not needed after a sign-in with a passkey.
    pub current_code: Option<OneTimeCode>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEmailResponse {
    pub success: bool,
    /// From when the new address signs in: ISO 8601.
    pub changes_at: String,
}

/// Change the mail address
///
/// The new address takes the place of the present one after 7 days: until then mails go to the present one, which signs in
/// as before, and `DELETE /artists/email` stops it. Both are told. Needs a sign-in within the last 15 minutes.
#[utoipa::path(
    post,
    path = "/artists/email",
    tag = "Artists",
    security(("token" = [])),
    request_body(
        content = ChangeEmailRequest,
        example = json!({"email": "ada@example.com", "code": "123456", "currentCode": "654321"}),
    ),
    responses((status = 200, description = "The address is to change.", body = ChangeEmailResponse)),
    extensions(("x-errors" = json!([403, 409, 429]))),
)]
pub fn change_email() {}
