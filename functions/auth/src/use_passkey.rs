//! Contract of `POST /oauth/passkey`.

use shared::{http::FromFields, model::CeremonyId};
use utoipa::ToSchema;

use crate::{log_in::LogInResponse, passkey::UsedCredential};

/// A passkey's answer.
#[derive(FromFields, ToSchema)]
pub struct UsePasskeyRequest {
    /// Where the answer belongs to.
    pub ceremony: CeremonyId,
    /// What `navigator.credentials.get()` gave, as its `toJSON()` writes it.
    #[schema(value_type = Object)]
    pub credential: UsedCredential,
}

/// Sign in with a passkey
///
/// Exchanges a passkey's answer for a token, valid for an hour, that may do what a recent sign-in may, unless the passkey was
/// added less than a day ago.
#[utoipa::path(
    post,
    path = "/oauth/passkey",
    tag = "Sign-in",
    request_body(content = UsePasskeyRequest, example = json!({
        "ceremony": "3f0c9a6e-1d2b-4c8f-9e57-7a1b2c3d4e5f",
        "credential": {"id": "…", "rawId": "…", "type": "public-key", "response": {
            "authenticatorData": "…", "clientDataJSON": "…", "signature": "…", "userHandle": "…",
        }},
    })),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
    extensions(("x-errors" = json!([401, 409, 429]))),
)]
pub fn use_passkey() {}
