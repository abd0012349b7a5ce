//! The answer with an artist's wallets.

use serde::Serialize;
use shared::{model::Wallet, store::artist::Profile};
use utoipa::ToSchema;

/// An artist's wallets.
#[derive(Serialize, ToSchema)]
#[schema(as = WalletList)]
pub struct WalletsResponse<'a> {
    /// The embedded one first, then by time of connection.
    wallets: &'a [Wallet],
}

impl<'a> WalletsResponse<'a> {
    /// Shows a profile's wallets.
    pub fn of(profile: &'a Profile) -> Self {
        Self { wallets: &profile.wallets }
    }
}
