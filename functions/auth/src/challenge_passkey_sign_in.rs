//! Contract of `POST /oauth/passkey/challenge`.

use crate::passkey::CeremonyResponse;

/// Begin a sign-in with a passkey
///
/// Give `publicKey` to `navigator.credentials.get()`, and its answer to `POST /oauth/passkey`.
#[utoipa::path(
    post,
    path = "/oauth/passkey/challenge",
    tag = "Sign-in",
    responses((status = 200, description = "What a passkey is to answer.", body = CeremonyResponse)),
    extensions(("x-errors" = json!([429]))),
)]
pub fn challenge_passkey_sign_in() {}
