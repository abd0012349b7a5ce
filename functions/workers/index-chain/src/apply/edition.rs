//! Editions, where each mint creates moments.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, EventId, Moment},
    store::StoreError,
};

use super::Applier;
use crate::event::Position;

/// Most tokens accepted of one event: far more than a block has gas for.
const MAX_QUANTITY: u64 = 50_000;

impl Applier<'_> {
    pub(super) async fn edition_minted(
        &mut self,
        at: &Position,
        collection: Address,
        tier: u8,
        quantity: u64,
        first_token: U256,
    ) -> Result<(), StoreError> {
        let chain = self.chain.id;
        let Some(owner) = self.work.collection(chain, collection.into()).await? else { return Ok(()) };
        let mut stored = self.work.tier(chain, owner.address, tier).await?.unwrap_or_default();
        let quantity = quantity.min(MAX_QUANTITY);
        for (nth, token) in
            (0..quantity).zip(std::iter::successors(Some(first_token), |token| token.checked_add(U256::ONE)))
        {
            stored.minted += 1;
            let place = self.place(collection, token);
            if self.work.moment(&place).await?.is_some() {
                continue;
            }
            let mut moment = Moment {
                id: EventId::nth(chain, at.transaction, at.log_index, nth),
                chain_id: chain,
                collection: place.collection,
                token_id: place.token,
                protocol: owner.protocol,
                uri: stored.uri_of(stored.minted),
                creator: owner.creator,
                admins: Vec::new(),
                max_supply: Amount(U256::ONE),
                minted: Amount(U256::ONE),
                burned: Amount::default(),
                sales: Vec::new(),
                royalty: None,
                fee_recipients: Vec::new(),
                created_at: at.time,
                updated_at: at.time,
            };
            moment.fee_recipients = self.fee_recipients(&moment, &owner).await?;
            self.work.put_moment(&moment)?;
        }
        self.work.put_tier(chain, owner.address, tier, &stored)
    }

    /// Minted tokens keep their URI, as onchain.
    pub(super) async fn tier_uri_set(&mut self, collection: Address, tier: u8, uri: &str) -> Result<(), StoreError> {
        let (chain, collection) = (self.chain.id, collection.into());
        let mut stored = self.work.tier(chain, collection, tier).await?.unwrap_or_default();
        uri.clone_into(&mut stored.uri);
        self.work.put_tier(chain, collection, tier, &stored)
    }
}
