//! Contract of `POST /artists/passkeys/challenge`.

use crate::passkey::CeremonyResponse;

/// Begin to add a passkey
///
/// Give `publicKey` to `navigator.credentials.create()`, and its answer to `POST /artists/passkeys`, with a proof that
/// `POST /artists/proofs` asks for. Needs a recent sign-in.
#[utoipa::path(
    post,
    path = "/artists/passkeys/challenge",
    tag = "Passkeys",
    security(("token" = [])),
    responses((status = 200, description = "What an authenticator is to make.", body = CeremonyResponse)),
    extensions(("x-errors" = json!([403, 409]))),
)]
pub fn challenge_passkey() {}
