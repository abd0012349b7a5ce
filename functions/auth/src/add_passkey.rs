//! Contract of `POST /artists/passkeys`.

use shared::{
    http::FromFields,
    model::{CeremonyId, PasskeyName, ProofId},
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
    /// A proof of `addPasskey` for this ceremony.
    pub proof: ProofId,
}

/// Add a passkey
///
/// A day later, whatever needs a recent sign-in needs one with a passkey; until then the new one only signs in. One that
/// is to be removed can be added again. An artist has at most 10.
#[utoipa::path(
    post,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    request_body(content = AddPasskeyRequest, example = json!({
        "ceremony": "3f0c9a6e-1d2b-4c8f-9e57-7a1b2c3d4e5f",
        "credential": {"id": "…", "rawId": "…", "type": "public-key", "response": {"attestationObject": "…", "clientDataJSON": "…"}},
        "name": "my phone",
        "proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5",
    })),
    responses((status = 200, description = "Your passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403, 409]))),
)]
pub fn add_passkey() {}
