//! Contract of `POST /oauth/wallet`.

use shared::{
    auth::wallet_proof::{Message, WalletSignature},
    http::FromFields,
};
use utoipa::ToSchema;

use crate::log_in::LogInResponse;

/// Proof of ownership.
#[derive(FromFields, ToSchema)]
pub struct UseWalletRequest {
    /// The message from the challenge, word for word.
    #[schema(value_type = String, min_length = 1, max_length = 2000)]
    pub message: Message,
    /// The wallet's signature of the message (`personal_sign`), or one that a contract wallet accepts.
    #[schema(value_type = String, pattern = "^0x([0-9a-fA-F]{2}){1,4096}$")]
    pub signature: WalletSignature,
}

/// Sign in with a wallet
///
/// Exchanges the challenge's message and the wallet's signature of it, by a key (`personal_sign`) or a contract (ERC-1271,
/// ERC-6492), for a token, valid for an hour. A connected wallet signs its artist in, a contract on the chain where it was
/// connected; on the first day it may not do what a recent sign-in may. Any other wallet makes an artist without a mail
/// address.
#[utoipa::path(
    post,
    path = "/oauth/wallet",
    tag = "Sign-in",
    request_body(content = UseWalletRequest, example = json!({
        "message": "api.moments.example wants you to sign in with your Ethereum account: …",
        "signature": concat!(
            "0x8f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d3",
            "8f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d31b",
        ),
    })),
    responses((status = 200, description = "Signed in.", body = LogInResponse)),
    extensions(("x-errors" = json!([401, 403, 409, 429, 502, 503]))),
)]
pub fn use_wallet() {}
