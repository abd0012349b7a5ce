//! Applies transfers: mints and burns change a moment's supply, and whoever gets tokens becomes its collector, buyers
//! with what they paid.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Moment, Transfer, TransferType},
    store::{
        StoreError,
        chain::{collection_key, moment_key, transfer_keys},
        engine::PrimaryKey,
    },
};

use super::Applier;
use crate::event::ChainEvent;

/// Tokens whose rows are read together.
const CHUNK: u64 = 100;

impl Applier<'_> {
    /// Applies the transfers of an event from its token number `done` on, while there is room. Returns the number of the
    /// first one that is left. Those of nothing are ignored: they cost nothing to make.
    pub(super) async fn transferred(
        &mut self,
        event: &ChainEvent,
        (from, to): (Address, Address),
        tokens: &[(U256, U256)],
        done: u64,
    ) -> Result<Option<u64>, StoreError> {
        if from == to {
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
                self.read_before(event, (from, to), chunk).await?;
            }
            let place = self.place(event.emitter, token);
            let Some(mut moment) = self.work.moment(&place).await? else { continue };
            if from.is_zero() {
                moment.minted = Amount(moment.minted.0.saturating_add(quantity));
            }
            if to.is_zero() {
                moment.burned = Amount(moment.burned.0.saturating_add(quantity));
            }
            if from.is_zero() || to.is_zero() {
                self.work.put_moment(&moment)?;
            }
            // A purchase lists and tells its own transfer.
            if self.collects.is_bought(&event.at, token) {
                continue;
            }
            let transfer = self.transfer(event, &moment, (from, to), quantity, number).await?;
            if !to.is_zero() {
                self.work.add_transfer(&transfer).await?;
            }
            self.tell_transfer(&event.at, number, &transfer)?;
        }
        Ok(None)
    }

    /// Reads the rows of these tokens together.
    async fn read_before(
        &mut self,
        event: &ChainEvent,
        accounts: (Address, Address),
        tokens: impl Iterator<Item = &(U256, U256)> + Clone,
    ) -> Result<(), StoreError> {
        let mut keys: Vec<PrimaryKey> =
            tokens.clone().map(|(token, _)| moment_key(&self.place(event.emitter, *token))).collect();
        keys.push(collection_key(self.chain.id, event.emitter.into()));
        self.work.prefetch(keys).await?;
        let mut keys = Vec::new();
        let collects = self.collects;
        for (token, quantity) in tokens.filter(|(token, _)| !collects.is_bought(&event.at, *token)) {
            if let Some(moment) = self.work.moment(&self.place(event.emitter, *token)).await? {
                keys.extend(transfer_keys(&self.transfer(event, &moment, accounts, *quantity, 0).await?));
            }
        }
        self.work.prefetch(keys).await
    }

    /// The transfer of an event's token with this number among its tokens.
    async fn transfer(
        &mut self,
        event: &ChainEvent,
        moment: &Moment,
        (from, to): (Address, Address),
        quantity: U256,
        number: u64,
    ) -> Result<Transfer, StoreError> {
        let collection = self.work.collection(self.chain.id, moment.collection).await?;
        Ok(Transfer {
            id: self.id(&event.at).of_its(&format!("transfer {number}")),
            r#type: if from.is_zero() { TransferType::Airdrop } else { TransferType::Transfer },
            chain_id: self.chain.id,
            collection: moment.collection,
            token_id: moment.token_id,
            creator: collection.map_or(moment.creator, |collection| collection.creator),
            from: from.into(),
            to: to.into(),
            quantity: Amount(quantity),
            value: None,
            currency: None,
            transaction_hash: event.at.transaction,
            block: event.at.block,
            log: event.at.log_index,
            transferred_at: event.at.time,
        })
    }
}
