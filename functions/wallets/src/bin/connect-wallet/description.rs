use shared::api::artist::WalletsResponse;

use super::ConnectWalletRequest;

/// Connect a wallet
///
/// Takes the challenge's message and the wallet's signature of it, by a key (`personal_sign`) or a contract (ERC-1271). An
/// artist has at most 10 wallets.
#[utoipa::path(
    post,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = ConnectWalletRequest, example = json!({
        "message": "api.moments.example wants you to sign in with your Ethereum account: …",
        "signature": "0x8f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d38f2a6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d31b",
    })),
    responses((status = 200, description = "Your wallets.", body = WalletsResponse)),
)]
fn connect_wallet() {}

openapi::published!(connect_wallet, 403, 409, 502, 503);
