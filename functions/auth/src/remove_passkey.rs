//! Contract of `DELETE /artists/passkeys?passkeyId=`.

use shared::{
    http::FromFields,
    model::{PasskeyId, ProofId},
};
use utoipa::{IntoParams, ToSchema};

use crate::passkey::PasskeysResponse;

/// The passkey.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RemovePasskeyQuery {
    /// Its id, from the list of passkeys.
    #[param(rename = "passkeyId")]
    pub passkey: PasskeyId,
}

/// What proves that it is to go.
#[derive(FromFields, ToSchema)]
pub struct RemovePasskeyRequest {
    /// A proof of `removePasskey`.
    pub proof: ProofId,
}

/// Remove a passkey
///
/// At once if a passkey's answer proves it, or while the passkey is younger than a day. Otherwise, for whoever lost theirs, in
/// 7 days; it is mailed, and `PATCH /artists/passkeys` takes it back. The last way in stays, as with
/// `DELETE /artists/wallets`. Needs a sign-in within the last 15 minutes, by whatever way.
#[utoipa::path(
    delete,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    params(RemovePasskeyQuery),
    request_body(content = RemovePasskeyRequest, example = json!({"proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5"})),
    responses((status = 200, description = "Your passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn remove_passkey() {}
