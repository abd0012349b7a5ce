//! Contract of `POST /oauth/wallet/challenge`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{ChainId, CheckedAddress, DeviceToken},
};
use utoipa::ToSchema;

/// The wallet.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChallengeSignInRequest {
    /// Wallet to sign in with.
    pub address: CheckedAddress,
    /// Chain of a contract wallet.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
    /// The token of a device on which somebody signed in before: what others of its network do doesn't touch it.
    pub device_token: Option<DeviceToken>,
}

/// The message that proves whose wallet it is.
#[derive(Serialize, ToSchema)]
pub struct ChallengeSignInResponse<'a> {
    /// Message to sign (EIP-4361), valid for one use within 10 minutes.
    pub message: &'a str,
}

/// Create a message to sign in with a wallet
///
/// Sign the message with the wallet, then exchange both for a token.
#[utoipa::path(
    post,
    path = "/oauth/wallet/challenge",
    tag = "Sign-in",
    request_body(
        content = ChallengeSignInRequest,
        example = json!({"address": "0x540c18b7f99b3b599c6feb99964498931c211858"}),
    ),
    responses((status = 200, description = "The message.", body = ChallengeSignInResponse)),
    extensions(("x-errors" = json!([429, 503]))),
)]
pub fn challenge_sign_in() {}
