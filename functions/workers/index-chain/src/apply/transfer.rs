//! Transfers: collects, mints, airdrops, burns and those between holders.

use alloy::primitives::{Address, U256};
use shared::{
    chain::Role,
    model::{Amount, Transfer, TransferKind},
    store::{PrimaryKey, StoreError, holder_key, moment_key, transfers_key},
};

use super::Applier;
use crate::event::Position;

/// Tokens whose rows are read together.
const CHUNK: u64 = 100;

impl Applier<'_> {
    /// Applies the transfers of an event from its token number `done` on, while there is room. Returns the number of the
    /// first one that is left. Transfers of nothing are ignored: they cost nothing to make.
    pub(super) async fn transferred(
        &mut self,
        at: &Position,
        collection: Address,
        operator: Address,
        (from, to): (Address, Address),
        tokens: &[(U256, U256)],
        done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let Some(owner) = self.work.collection(self.chain.id, collection.into()).await? else { return Ok(None) };
        let kind = match (from.is_zero(), to.is_zero()) {
            (true, _) if self.collects.has(at) || self.is_seller(operator) => TransferKind::Collect,
            (true, _) if shared::model::Address::from(to) == owner.creator => TransferKind::Mint,
            (true, _) => TransferKind::Airdrop,
            (false, true) => TransferKind::Burn,
            (false, false) => TransferKind::Transfer,
        };
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
                let keys: Vec<_> =
                    chunk.flat_map(|(token, _)| self.transfer_keys(collection, *token, [from, to])).collect();
                self.work.prefetch(keys).await?;
            }
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
        Ok(None)
    }

    /// Keys that a transfer reads.
    pub(super) fn transfer_keys(&self, collection: Address, token: U256, between: [Address; 2]) -> Vec<PrimaryKey> {
        let moment = self.place(collection, token);
        let holders = between.into_iter().filter(|holder| !holder.is_zero());
        let holders = holders.map(|holder| holder_key(&moment, holder.into()));
        [moment_key(&moment), transfers_key(&moment)].into_iter().chain(holders).collect()
    }

    /// Whether an account is a sale strategy, whose mints are collects.
    fn is_seller(&self, account: Address) -> bool {
        let roles = [Role::FixedPriceMinter, Role::Erc20Minter, Role::TimedMinter];
        roles.into_iter().any(|role| self.chain.addresses.all(role).contains(&account))
    }
}
