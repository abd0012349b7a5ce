//! Transfers: mints and burns change a moment's supply.

use alloy::primitives::{Address, U256};
use shared::{
    model::Amount,
    store::{StoreError, moment_key},
};

use super::Applier;

/// Tokens whose rows are read together.
const CHUNK: u64 = 100;

impl Applier<'_> {
    /// Applies the mints or burns of an event from its token number `done` on, while there is room. Returns the number of
    /// the first one that is left. Those of nothing are ignored: they cost nothing to make.
    pub(super) async fn transferred(
        &mut self,
        collection: Address,
        (from, to): (Address, Address),
        tokens: &[(U256, U256)],
        done: u64,
    ) -> Result<Option<u64>, StoreError> {
        if !changes_supply(from, to) {
            return Ok(None);
        }
        let mut read_to = done;
        for (number, &(token, quantity)) in (0..).zip(tokens).skip(usize::try_from(done).unwrap_or(usize::MAX)) {
            if quantity.is_zero() {
                continue;
            }
            if number > done && self.is_full() {
                return Ok(Some(number));
            }
            if number >= read_to {
                read_to = number + CHUNK;
                let chunk = tokens.iter().skip(usize::try_from(number).unwrap_or(usize::MAX)).take(CHUNK as usize);
                let keys: Vec<_> = chunk.map(|(token, _)| moment_key(&self.place(collection, *token))).collect();
                self.work.prefetch(keys).await?;
            }
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
        Ok(None)
    }
}

/// Whether tokens are minted or burned.
pub(super) fn changes_supply(from: Address, to: Address) -> bool {
    from.is_zero() || to.is_zero()
}
