//! Contract of `PUT /artists/proofs`.

use serde::Serialize;
use shared::{
    auth::wallet_proof::WalletSignature,
    http::FromFields,
    model::{OneTimeCode, ProofId},
};
use utoipa::ToSchema;

use crate::passkey::UsedCredential;

/// The answer: what the proof's way asks for.
#[derive(FromFields, ToSchema)]
pub struct GiveProofRequest {
    /// Which proof it is.
    pub proof: ProofId,
    /// The code from the mail.
    pub code: Option<OneTimeCode>,
    /// The wallet's signature of the message (`personal_sign`), or one that a contract wallet accepts.
    #[schema(value_type = Option<String>, pattern = "^0x([0-9a-fA-F]{2}){1,4096}$")]
    pub signature: Option<WalletSignature>,
    /// What `navigator.credentials.get()` gave, as its `toJSON()` writes it.
    #[schema(value_type = Option<Object>)]
    pub credential: Option<UsedCredential>,
}

#[derive(Serialize, ToSchema)]
pub struct GiveProofResponse {
    /// The proof can be used.
    pub success: bool,
}

/// Give a proof
///
/// Answers what `POST /artists/proofs` asked. The proof can then be used once, for what it was asked for. It takes 5 tries.
#[utoipa::path(
    put,
    path = "/artists/proofs",
    tag = "Passkeys",
    security(("token" = [])),
    request_body(
        content = GiveProofRequest,
        example = json!({"proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5", "code": "123456"}),
    ),
    responses((status = 200, description = "The proof is given.", body = GiveProofResponse)),
    extensions(("x-errors" = json!([403, 502, 503]))),
)]
pub fn give_proof() {}
