//! Contract of `DELETE /artists/email`.

use serde::Serialize;
use shared::{http::FromFields, model::ProofId};
use utoipa::ToSchema;

/// What proves that it is to stay.
#[derive(FromFields, ToSchema)]
pub struct KeepEmailRequest {
    /// A proof of `keepEmail` for the new address.
    pub proof: Option<ProofId>,
}

#[derive(Serialize, ToSchema)]
pub struct KeepEmailResponse {
    /// The address stays as it is.
    pub success: bool,
}

/// Stop a change of the mail address
///
/// The present address stays. Takes any token of the artist: whoever is robbed of the account may have nothing else. A
/// change that a wallet or a passkey proved takes a proof by such: the mailbox alone doesn't stop it. Removing that wallet
/// or passkey, by more than a mailed code, stops it, too.
#[utoipa::path(
    delete,
    path = "/artists/email",
    tag = "Artists",
    security(("token" = [])),
    request_body(
        content = Option<KeepEmailRequest>,
        example = json!({"proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5"}),
    ),
    responses((status = 200, description = "The address stays.", body = KeepEmailResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn keep_email() {}
