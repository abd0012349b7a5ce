//! Transfers: mints and burns change a moment's supply, and accounts that get tokens become its collectors, buyers with
//! what they paid.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Moment, Transfer, TransferType},
    store::{
        StoreError,
        chain::{moment_key, transfer_keys},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, Transferred},
};

/// Most tokens of one event whose rows are read together with those of other events.
const FEW_TOKENS: usize = 20;

/// Tokens whose rows are read together.
const CHUNK: u64 = 100;

impl Kind for Transferred {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    /// Longer lists read their rows in chunks.
    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        if self.from == self.to {
            return Vec::new();
        }
        let few = self.tokens.iter().filter(|(_, quantity)| !quantity.is_zero()).take(FEW_TOKENS);
        let moments = few.map(|(token, _)| moment_key(&applier.place(event.emitter, *token)));
        moments.chain([applier.collection_key(event.emitter)]).collect()
    }

    /// Ignores transfers of nothing: they cost nothing to make.
    async fn apply(&self, event: &ChainEvent, applier: &mut Applier<'_>, done: u64) -> Result<Option<u64>, StoreError> {
        let Self { from, to, tokens, .. } = self;
        if from == to {
            return Ok(None);
        }
        let mut read_to = done;
        for (number, &(token, quantity)) in (0..).zip(tokens).skip(usize::try_from(done).unwrap_or(usize::MAX)) {
            if quantity.is_zero() {
                continue;
            }
            if number > done && applier.is_full() {
                return Ok(Some(number));
            }
            if number >= read_to {
                read_to = number + CHUNK;
                let chunk = tokens.iter().skip(usize::try_from(number).unwrap_or(usize::MAX)).take(CHUNK as usize);
                self.read_before(event, applier, chunk).await?;
            }
            let place = applier.place(event.emitter, token);
            let Some(mut moment) = applier.work.moment(&place).await? else { continue };
            if from.is_zero() {
                moment.minted = Amount(moment.minted.0.saturating_add(quantity));
            }
            if to.is_zero() {
                moment.burned = Amount(moment.burned.0.saturating_add(quantity));
            }
            if from.is_zero() || to.is_zero() {
                applier.work.put_moment(&moment)?;
            }
            // A purchase lists and emits its own transfer.
            if applier.collects.is_bought(&event.at, token) {
                continue;
            }
            let transfer = self.transfer(event, applier, &moment, quantity, number).await?;
            if !to.is_zero() {
                applier.work.add_transfer(&transfer).await?;
            }
            applier.emit(&event.at, number, events::transfer(&transfer))?;
        }
        Ok(None)
    }
}

impl Transferred {
    /// Reads the rows of these tokens together.
    async fn read_before(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        tokens: impl Iterator<Item = &(U256, U256)> + Clone,
    ) -> Result<(), StoreError> {
        let mut keys: Vec<PrimaryKey> =
            tokens.clone().map(|(token, _)| moment_key(&applier.place(event.emitter, *token))).collect();
        keys.push(applier.collection_key(event.emitter));
        applier.work.prefetch(keys).await?;
        let mut keys = Vec::new();
        let collects = applier.collects;
        for (token, quantity) in tokens.filter(|(token, _)| !collects.is_bought(&event.at, *token)) {
            if let Some(moment) = applier.work.moment(&applier.place(event.emitter, *token)).await? {
                keys.extend(transfer_keys(&self.transfer(event, applier, &moment, *quantity, 0).await?));
            }
        }
        applier.work.prefetch(keys).await
    }

    /// The transfer of the token with this number.
    async fn transfer(
        &self,
        event: &ChainEvent,
        applier: &mut Applier<'_>,
        moment: &Moment,
        quantity: U256,
        number: u64,
    ) -> Result<Transfer, StoreError> {
        let collection = applier.work.collection(moment.chain_id, moment.collection).await?;
        Ok(Transfer {
            id: applier.id(&event.at).of_its(&format!("transfer {number}")),
            r#type: if self.from.is_zero() { TransferType::Airdrop } else { TransferType::Transfer },
            chain_id: moment.chain_id,
            collection: moment.collection,
            token_id: moment.token_id,
            creator: collection.map_or(moment.creator, |collection| collection.creator),
            from: self.from.into(),
            to: self.to.into(),
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
