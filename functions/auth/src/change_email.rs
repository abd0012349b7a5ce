//! Contract of `POST /artists/email`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Email, ProofId},
};
use utoipa::ToSchema;

/// The new address and what proves it.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChangeEmailRequest {
    /// The new address.
    pub email: Email,
    /// A proof of `newEmail` for it.
    pub new_proof: ProofId,
    /// A proof of `changeEmail` for it.
    pub proof: ProofId,
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
/// as before, and `DELETE /artists/email` stops it. Both are told. `POST /artists/proofs` asks for the proofs, of which that
/// of the change is by a wallet or a passkey where there is no address yet. Needs a sign-in within the last 15 minutes.
#[utoipa::path(
    post,
    path = "/artists/email",
    tag = "Artists",
    security(("token" = [])),
    request_body(
        content = ChangeEmailRequest,
        example = json!({
            "email": "ada@example.com",
            "newProof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5",
            "proof": "8d2e3f4a-5b6c-4d7e-9f80-a1b2c3d4e5f6",
        }),
    ),
    responses((status = 200, description = "The address is to change.", body = ChangeEmailResponse)),
    extensions(("x-errors" = json!([403, 409]))),
)]
pub fn change_email() {}
