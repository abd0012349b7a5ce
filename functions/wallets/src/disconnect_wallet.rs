//! Contract of `DELETE /artists/wallets?address=`.

use shared::{
    http::FromFields,
    model::{Address, ProofId},
};
use utoipa::{IntoParams, ToSchema};

use crate::WalletsResponse;

/// The wallet.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DisconnectWalletQuery {
    /// Its address.
    pub address: Address,
}

/// What proves that it is to go at once.
#[derive(FromFields, ToSchema)]
pub struct DisconnectWalletRequest {
    /// A proof of `disconnectWallet` for it.
    pub proof: Option<ProofId>,
}

/// Disconnect a wallet
///
/// At once where a mail address signs in whose mails don't come back, with a `proof`, or while the wallet doesn't count as a
/// way in. Otherwise it takes the same request again after 7 days, `leaves_at`; connecting the wallet again stops it.
///
/// The embedded wallet can't be disconnected, nor the last way in: such a mail address must be left, or a wallet or passkey
/// that counts and isn't to be removed.
#[utoipa::path(
    delete,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = [])),
    params(DisconnectWalletQuery),
    request_body(
        content = Option<DisconnectWalletRequest>,
        example = json!({"proof": "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5"}),
    ),
    responses((status = 200, description = "Your remaining wallets.", body = WalletsResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn disconnect_wallet() {}
