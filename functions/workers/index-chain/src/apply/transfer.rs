//! Transfers: mints and burns change a moment's supply.

use alloy::primitives::{Address, U256};
use shared::{model::Amount, store::StoreError};

use super::Applier;

impl Applier<'_> {
    pub(super) async fn transferred(
        &mut self,
        collection: Address,
        (from, to): (Address, Address),
        tokens: &[(U256, U256)],
    ) -> Result<(), StoreError> {
        if !changes_supply(from, to) {
            return Ok(());
        }
        for &(token, quantity) in tokens {
            let place = self.place(collection, token);
            let Some(mut moment) = self.work.moment(&place).await? else { continue };
            if from.is_zero() {
                moment.minted = Amount(moment.minted.0.saturating_add(quantity));
            }
            if to.is_zero() {
                moment.burned = Amount(moment.burned.0.saturating_add(quantity));
            }
            self.work.put_moment(&moment)?;
        }
        Ok(())
    }
}

/// Whether tokens are minted or burned.
pub(super) fn changes_supply(from: Address, to: Address) -> bool {
    from.is_zero() || to.is_zero()
}
