//! Contract of `POST /artists/proofs`.

use serde::Serialize;
use serde_json::Value;
use shared::{
    http::{Fields, FromFields},
    model::{Address, ChainId, Invalid, ProofAct, ProofId, ProofSubject, ProofWay},
};
use utoipa::ToSchema;

/// What is to be proved, and how.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
pub struct AskProofRequest {
    /// What the proof allows.
    pub act: ProofAct,
    /// What that is about: the `ceremony` of `POST /artists/passkeys/challenge`, the passkey's id, the wallet's address, or the
    /// new mail address.
    pub subject: ProofSubject,
    /// How to prove it; `newEmail` by a code alone, `disconnectWallet` and `keepEmail` by a wallet or a passkey.
    #[schema(value_type = Option<ProofWay>, default = "email")]
    pub way: ProofWay,
    /// With `wallet`: a wallet that you connected with a proof at least a day ago, or began with.
    pub address: Option<Address>,
    /// With `wallet`: the chain that its message names. A contract is asked on the chain where it was connected.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

impl AskProofRequest {
    fn check(&self, fields: &Fields<'_>) {
        let refuse = |field: &str, words| fields.field(field).refuse(&Invalid(words));
        if self.way == ProofWay::Wallet && self.address.is_none() {
            refuse("address", "is required with the way wallet");
        }
        if self.act == ProofAct::NewEmail && self.way != ProofWay::Email {
            refuse("way", "must be email for newEmail");
        }
        if !self.act.takes_code() && self.way == ProofWay::Email {
            refuse("way", "must be wallet or passkey for this act");
        }
    }
}

/// What to answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskProofResponse {
    /// Send it along with the answer, and then with what it allows, within 10 minutes.
    pub proof: ProofId,
    pub way: ProofWay,
    /// With `wallet`: message to sign (EIP-4361).
    #[schema(required = true)]
    pub message: Option<String>,
    /// With `passkey`: options for `navigator.credentials.get()` (`PublicKeyCredential.parseRequestOptionsFromJSON`).
    #[schema(required = true, value_type = Option<Object>)]
    pub public_key: Option<Value>,
}

/// Ask for a proof
///
/// What decides who has the account takes a proof for exactly that, and none of another or from before: a code to its mailbox,
/// the signature of a wallet that the account began with or that was connected with a proof at least a day ago, or the answer
/// of a passkey that was added at least a day ago; none of what is to be removed. For `removePasskey` and `keepPasskey` also
/// that of the passkey itself. `newEmail` is a code to an address that is nobody's. Give it with `PUT /artists/proofs`. At
/// most 5 codes in an hour and 20 in a day, and 20 and 60 other proofs. Needs a sign-in within the last 15 minutes.
#[utoipa::path(
    post,
    path = "/artists/proofs",
    tag = "Passkeys",
    security(("token" = [])),
    request_body(content = AskProofRequest, example = json!({"act": "newEmail", "subject": "ada@example.com"})),
    responses((status = 200, description = "What to answer.", body = AskProofResponse)),
    extensions(("x-errors" = json!([403, 409, 422, 429, 502, 503]))),
)]
pub fn ask_proof() {}
