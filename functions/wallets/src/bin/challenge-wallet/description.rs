use super::{ChallengeWalletRequest, ChallengeWalletResponse};

/// Get a message to sign with a wallet
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
)]
fn challenge_wallet() {}

openapi::published!(challenge_wallet, 403, 429, 503);
