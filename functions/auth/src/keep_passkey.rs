//! Contract of `PATCH /artists/passkeys?passkeyId=`.

use shared::{
    http::{Fields, FromFields},
    model::{Invalid, ProofId},
};
use utoipa::ToSchema;

use crate::{passkey::PasskeysResponse, remove_passkey::RemovePasskeyQuery};

/// What proves that it is to stay.
#[derive(FromFields, ToSchema)]
#[field(check)]
pub struct KeepPasskeyRequest {
    /// Proofs of `keepPasskey`: one by the passkey itself, and one by a code or a wallet.
    #[schema(min_items = 2, max_items = 2, value_type = BTreeSet<ProofId>)]
    pub proofs: Vec<ProofId>,
}

impl KeepPasskeyRequest {
    fn check(&self, fields: &Fields<'_>) {
        if let [one, other] = self.proofs.as_slice()
            && one == other
        {
            fields.field("proofs").refuse(&Invalid("must be two different ones"));
        }
    }
}

/// Keep a passkey
///
/// Takes the removal of a passkey back. It takes the passkey's own answer and a code to the mailbox or the signature of a
/// wallet: neither a stolen device nor a stolen mailbox is enough.
#[utoipa::path(
    patch,
    path = "/artists/passkeys",
    tag = "Passkeys",
    security(("token" = [])),
    params(RemovePasskeyQuery),
    request_body(content = KeepPasskeyRequest, example = json!({
        "proofs": ["7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5", "8d2e3f4a-5b6c-4d7e-9f80-a1b2c3d4e5f6"],
    })),
    responses((status = 200, description = "Your passkeys.", body = PasskeysResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn keep_passkey() {}
