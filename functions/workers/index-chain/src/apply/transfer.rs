//! Transfers: collects, mints, airdrops, burns and those between holders.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Transfer, TransferKind},
    store::StoreError,
};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    pub(super) async fn transferred(
        &mut self,
        at: &Position,
        collection: Address,
        operator: Address,
        (from, to): (Address, Address),
        tokens: &[(U256, U256)],
    ) -> Result<(), StoreError> {
        let Some(owner) = self.work.collection(self.chain.id, collection.into()).await? else { return Ok(()) };
        let kind = match (from.is_zero(), to.is_zero()) {
            (true, _) if self.collects.has(at) || self.is_seller(operator) => TransferKind::Collect,
            (true, _) if shared::model::Address::from(to) == owner.creator => TransferKind::Mint,
            (true, _) => TransferKind::Airdrop,
            (false, true) => TransferKind::Burn,
            (false, false) => TransferKind::Transfer,
        };
        for &(token, quantity) in tokens {
            let place = self.place(collection, token);
            let Some(mut moment) = self.work.moment(&place).await? else { continue };
            let transfer = Transfer {
                id: self.id(at),
                kind,
                from: from.into(),
                to: to.into(),
                quantity: Amount(quantity),
                transaction_hash: at.transaction,
                transferred_at: at.time,
            };
            self.work.add_transfer(&place, &transfer).await?;
            if from.is_zero() {
                moment.minted = Amount(moment.minted.0.saturating_add(quantity));
            }
            if to.is_zero() {
                moment.burned = Amount(moment.burned.0.saturating_add(quantity));
            }
            if from.is_zero() || to.is_zero() {
                self.work.put_moment(&moment)?;
            }
        }
        Ok(())
    }

    /// Whether an account is a sale strategy, whose mints are collects.
    fn is_seller(&self, account: Address) -> bool {
        let known = &self.chain.addresses;
        [known.fixed_price_minter, known.erc20_minter, known.timed_minter].contains(&account)
    }
}
