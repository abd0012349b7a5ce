//! Payout addresses: how they are shown, and the parts of endpoints that change them.

use serde::Serialize;
use utoipa::ToSchema;

use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::ApiError,
    model::Address,
    store::{
        artist::{ArtistTable, PayoutAddress, PayoutAddresses},
        secret::SecretTable,
    },
};

/// The parts of endpoints that change payout addresses.
pub struct PayoutService {
    /// Who asks.
    pub sessions: SessionAuthenticator,
    /// The addresses.
    pub payouts: PayoutAddresses,
    /// Where changes are noted and mailed.
    pub activity: ActivityLog,
}

impl PayoutService {
    /// Reads what its parts read.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            payouts: PayoutAddresses::new(ArtistTable::from_env(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }
}

/// An address that money can be withdrawn to.
#[derive(Serialize, ToSchema)]
#[schema(as = PayoutAddress)]
pub struct PayoutView {
    /// The account.
    address: Address,
    /// ISO 8601.
    added_at: String,
    /// From when money can be withdrawn to it: ISO 8601.
    usable_at: String,
}

impl PayoutView {
    /// Shows an address. Fails for a time beyond the year 9999.
    pub fn of(payout: PayoutAddress) -> Result<Self, ApiError> {
        Ok(Self {
            address: payout.address,
            added_at: clock::iso_8601(payout.added_at)?,
            usable_at: clock::iso_8601(payout.usable_at())?,
        })
    }
}
