//! Contract of `POST /artists/wallets/challenge`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{ChainId, CheckedAddress},
};
use utoipa::ToSchema;

/// The wallet.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChallengeWalletRequest {
    /// Wallet to connect.
    pub address: CheckedAddress,
    /// Chain of a contract wallet.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// The message that proves whose wallet it is.
#[derive(Serialize, ToSchema)]
pub struct ChallengeWalletResponse<'a> {
    /// Message to sign (EIP-4361), valid for one use within 10 minutes.
    pub message: &'a str,
}

/// Create a message to sign with a wallet
///
/// Sign the message with the wallet, then connect the wallet. At most 20 messages in 10 minutes.
#[utoipa::path(
    post,
    path = "/artists/wallets/challenge",
    tag = "Artists",
    security(("token" = [])),
    request_body(
        content = ChallengeWalletRequest,
        example = json!({"address": "0x540c18b7f99b3b599c6feb99964498931c211858"}),
    ),
    responses((status = 200, description = "The message.", body = ChallengeWalletResponse)),
    extensions(("x-errors" = json!([403, 429, 503]))),
)]
pub fn challenge_wallet() {}
