//! Contract of `POST /artists/email/challenge`.

use serde::Serialize;
use shared::{http::FromFields, model::Email};
use utoipa::ToSchema;

/// The new address.
#[derive(FromFields, ToSchema)]
pub struct ChallengeEmailRequest {
    /// The new address.
    pub email: Email,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeEmailResponse {
    pub success: bool,
    /// Whether the present address got a code, too, which `POST /artists/email` asks for.
    pub needs_current_code: bool,
}

/// Mail the codes of a new mail address
///
/// Mails a code to the new address and another to the present one, valid for 10 minutes and 5 attempts, for
/// `POST /artists/email`. Needs a sign-in within the last 15 minutes. After a sign-in with a passkey the present address
/// gets none: it may be lost.
#[utoipa::path(
    post,
    path = "/artists/email/challenge",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = ChallengeEmailRequest, example = json!({"email": "ada@example.com"})),
    responses((status = 200, description = "The codes were mailed.", body = ChallengeEmailResponse)),
    extensions(("x-errors" = json!([403, 422, 429, 502, 503]))),
)]
pub fn challenge_email() {}
