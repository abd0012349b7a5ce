//! Contract of `POST /artists/wallets`.

use shared::{
    auth::wallet_proof::{Message, WalletSignature},
    http::FromFields,
    model::ProofId,
};
use utoipa::ToSchema;

use crate::WalletsResponse;

/// Proof of ownership.
#[derive(FromFields, ToSchema)]
pub struct ConnectWalletRequest {
    /// The message from the challenge, word for word.
    #[schema(value_type = String, min_length = 1, max_length = 2000)]
    pub message: Message,
    /// The wallet's signature of the message (`personal_sign`), or one that a contract wallet accepts.
    #[schema(value_type = String, pattern = "^0x([0-9a-fA-F]{2}){1,4096}$")]
    pub signature: WalletSignature,
    /// A proof of `connectWallet` for its address.
    pub proof: Option<ProofId>,
}

/// Connect a wallet
///
/// Takes the challenge's message and the wallet's signature of it, by a key (`personal_sign`) or a contract
/// (ERC-1271). Needs a sign-in within the last 15 minutes; money can be withdrawn to the wallet after 24 hours. An
/// artist has at most 10 wallets.
///
/// With a `proof` (`POST /artists/proofs`), the wallet counts as a way in a day later. Without one it signs in and no more:
/// that is never a recent sign-in and proves nothing, until it is connected again with a proof. A wallet that is to be
/// disconnected stays if it is connected again.
#[utoipa::path(
    post,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = ConnectWalletRequest, example = json!({
        "message": "api.moments.example wants you to sign in with your Ethereum account: …",
        "signature": concat!(
            "0x8f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d3",
            "8f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d31b",
        ),
        "proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5",
    })),
    responses((status = 200, description = "Your wallets.", body = WalletsResponse)),
    extensions(("x-errors" = json!([403, 409, 502, 503]))),
)]
pub fn connect_wallet() {}
