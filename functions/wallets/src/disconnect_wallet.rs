//! Contract of `DELETE /artists/wallets?address=`.

use shared::{http::FromFields, model::Address};
use utoipa::IntoParams;

use crate::WalletsResponse;

/// The wallet.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DisconnectWalletQuery {
    /// Its address.
    pub address: Address,
}

/// Disconnect a wallet
///
/// The embedded wallet can't be disconnected, nor the last way in: a wallet or passkey that was added at least a day ago and
/// isn't to be removed, or a mail address that signs in and whose mails don't come back must be left.
#[utoipa::path(
    delete,
    path = "/artists/wallets",
    tag = "Artists",
    security(("token" = [])),
    params(DisconnectWalletQuery),
    responses((status = 200, description = "Your remaining wallets.", body = WalletsResponse)),
    extensions(("x-errors" = json!([403, 404, 409]))),
)]
pub fn disconnect_wallet() {}
