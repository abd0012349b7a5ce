//! Answers with payout addresses.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{clock, model::Address, store::PayoutAddress};

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
    pub fn of(payout: PayoutAddress) -> Result<Self, time::Error> {
        Ok(Self {
            address: payout.address,
            added_at: clock::iso_8601(payout.added_at)?,
            usable_at: clock::iso_8601(payout.usable_at())?,
        })
    }
}
