//! Contract of `POST /artists/passkeys`.

use shared::{
    http::FromFields,
    model::{CeremonyId, PasskeyName},
};
use utoipa::ToSchema;

use crate::passkey::{NewCredential, PasskeysResponse};

/// A new passkey.
#[derive(FromFields, ToSchema)]
pub struct AddPasskeyRequest {
    /// Where the answer belongs to.
    pub ceremony: CeremonyId,
    /// What `navigator.credentials.create()` gave, as its `toJSON()` writes it.
    #[schema(value_type = Object)]
    pub credential: NewCredential,
    /// What to call it.
    #[schema(value_type = Option<PasskeyName>, default = json!(PasskeyName::default()))]
    pub name: PasskeyName,
}

/// Add a passkey
///
/// From now on, whatever needs a recent sign-in needs one with a passkey. An artist has at most 10.
#[utoipa::path(
    post,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    request_body(content = AddPasskeyRequest, example = json!({
        "ceremony": "3f0c9a6e-1d2b-4c8f-9e57-7a1b2c3d4e5f",
        "credential": {"id": "…", "rawId": "…", "type": "public-key", "response": {"attestationObject": "…", "clientDataJSON": "…"}},
        "name": "my phone",
    })),
    responses((status = 200, description = "Your passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403, 409]))),
)]
pub fn add_passkey() {}
