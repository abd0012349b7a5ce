//! The answer with an artist's wallets.

use serde::Serialize;
use shared::{
    clock,
    http::ApiError,
    model::{Address, Wallet, WalletType},
    store::artist::Profile,
};
use utoipa::ToSchema;

/// An artist's wallets.
#[derive(Serialize, ToSchema)]
#[schema(as = WalletList)]
pub struct WalletsResponse {
    /// The embedded one first, then by time of connection.
    wallets: Vec<ListedWallet>,
}

/// A wallet as its artist sees it.
#[derive(Serialize, ToSchema)]
pub struct ListedWallet {
    /// The wallet's account.
    pub address: Address,
    /// How the wallet was linked.
    pub r#type: WalletType,
    /// ISO 8601: from when on it can be disconnected without a proof; only for one that is to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub leaves_at: Option<String>,
}

impl WalletsResponse {
    /// Shows a profile's wallets.
    pub fn of(profile: &Profile) -> Result<Self, ApiError> {
        let listed = profile.wallets.iter().map(|&Wallet { address, r#type }| {
            let leaves_at = profile.leaves_at(address).map(clock::iso_8601).transpose()?;
            Ok(ListedWallet { address, r#type, leaves_at })
        });
        Ok(Self { wallets: listed.collect::<Result<_, ApiError>>()? })
    }
}
