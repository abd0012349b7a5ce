//! Contract of `POST /oauth/passkey/challenge`.

use shared::{http::FromFields, model::DeviceToken};
use utoipa::ToSchema;

use crate::passkey::CeremonyResponse;

/// Who asks.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChallengePasskeySignInRequest {
    /// The token of a device on which somebody signed in before: what others of its network do doesn't touch it.
    pub device_token: Option<DeviceToken>,
}

/// Begin a sign-in with a passkey
///
/// Give `publicKey` to `navigator.credentials.get()`, and its answer to `POST /oauth/passkey`.
#[utoipa::path(
    post,
    path = "/oauth/passkey/challenge",
    tag = "Sign-in",
    request_body(content = Option<ChallengePasskeySignInRequest>, example = json!({})),
    responses((status = 200, description = "What a passkey is to answer.", body = CeremonyResponse)),
    extensions(("x-errors" = json!([429]))),
)]
pub fn challenge_passkey_sign_in() {}
