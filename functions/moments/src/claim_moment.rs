//! Request, answer and description of `POST /claims/{token}`.

use alloy::primitives::B256;
use serde::Serialize;
use shared::{
    api::transact::Claim,
    auth::wallet_proof::{Message, WalletSignature},
    http::{Fields, FromFields},
    model::{Address, ClaimToken, Invalid, TransactionStatus},
};
use utoipa::{IntoParams, ToSchema};

use crate::claim_link::MomentName;

/// The link.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ClaimPath {
    /// The last part of the link.
    pub token: ClaimToken,
}

/// Who claims: nothing for whoever sends a token or an API key, or a wallet's proof.
#[derive(ToSchema)]
#[schema(as = ClaimMomentRequest)]
pub struct ClaimMomentRequest {
    /// The message of `POST /oauth/wallet/challenge`, word for word; needs `signature`.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2000)]
    pub message: Option<Message>,
    /// The wallet's signature of the message, as for `POST /oauth/wallet`; needs `message`.
    #[schema(value_type = Option<String>, pattern = "^0x([0-9a-fA-F]{2}){1,4096}$")]
    pub signature: Option<WalletSignature>,
}

impl FromFields for ClaimMomentRequest {
    fn from_fields(fields: &Fields<'_>) -> Option<Self> {
        let (message, signature) = (fields.field("message"), fields.field("signature"));
        let read = (message.read(), signature.read());
        for (given, other) in [(&message, &signature), (&signature, &message)] {
            if given.is_given() && !other.is_given() {
                other.refuse(&Invalid("is required: a wallet's proof is a message and its signature"));
                return None;
            }
        }
        Some(Self { message: read.0?, signature: read.1? })
    }
}

/// A claim.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimMomentResponse {
    moment: MomentName,
    /// The account that has the token, or gets it: the wallet that signed, or the artist's own.
    account: Address,
    /// How far its mint is: `queued`, `sent` or `mined`.
    status: TransactionStatus,
    /// Hash of the mint, once it is mined.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = Option<String>,
        pattern = "^0x[0-9a-f]{64}$",
        examples("0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f")
    )]
    hash: Option<B256>,
}

impl ClaimMomentResponse {
    /// A claim, and whether it is done.
    pub fn of(Claim { link, account, mint }: &Claim) -> (Self, bool) {
        let status = mint.as_ref().map_or(TransactionStatus::Mined, |mint| mint.status);
        let hash = mint.as_ref().and_then(|mint| mint.mined).map(|mined| mined.hash);
        (Self { moment: link.moment().into(), account: *account, status, hash }, status.is_final())
    }
}

/// Claim a moment
///
/// Gives a token to the artist whom the token or API key (scope `collect`) stands for or, with a proof, to that wallet; its
/// artist pays the fees. Who has all that the link gives a person is answered with that, so a claim may be repeated: 202
/// until the token is minted. 409 when all are claimed, 410 when the link is over or deleted.
#[utoipa::path(
    post,
    path = "/claims/{token}",
    tag = "Moments",
    security(("apiKey" = []), ("token" = []), ()),
    params(ClaimPath),
    request_body(content = ClaimMomentRequest, example = json!({})),
    responses(
        (status = 200, description = "The token is yours.", body = ClaimMomentResponse),
        (status = 202, description = "It is on its way: ask again.", body = ClaimMomentResponse),
    ),
    extensions(("x-errors" = json!([401, 403, 404, 409, 410, 422, 429, 502, 503]))),
)]
pub fn claim_moment() {}
