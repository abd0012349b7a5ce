//! Editions, where each mint creates moments.

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Collection, EventData, EventId, Moment, clip_uri},
    store::{
        StoreError,
        chain::{Tier, listing_keys, moment_key},
        engine::PrimaryKey,
    },
};

use super::Applier;
use crate::event::Position;

/// Most tokens accepted of one event: far more than a block has gas for.
const MAX_QUANTITY: u64 = 50_000;

/// Tokens that are created together.
const CHUNK: u64 = 40;

/// Numbered tokens of a tier that one event minted.
pub(super) struct MintedTokens {
    pub collection: Address,
    pub tier: u8,
    pub quantity: u64,
    pub first_token: U256,
}

impl Applier<'_> {
    /// Creates the tokens of an event from number `done` on, while there is room. Returns the number of the first one that
    /// is left.
    pub(super) async fn edition_minted(
        &mut self,
        at: &Position,
        minted: &MintedTokens,
        done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let (chain, quantity) = (self.chain.id, minted.quantity.min(MAX_QUANTITY));
        let Some(owner) = self.work.collection(chain, minted.collection.into()).await? else { return Ok(None) };
        self.name(owner.creator).await?;
        let mut tier = self.work.tier(chain, owner.address, minted.tier).await?.unwrap_or_default();
        let mut next = done;
        while next < quantity && !(next > done && self.is_full()) {
            let end = quantity.min(next + CHUNK);
            self.create_tokens(at, minted, &owner, &mut tier, next..end).await?;
            next = end;
        }
        self.work.put_tier(chain, owner.address, minted.tier, &tier)?;
        Ok((next < quantity).then_some(next))
    }

    async fn create_tokens(
        &mut self,
        at: &Position,
        minted: &MintedTokens,
        owner: &Collection,
        tier: &mut Tier,
        numbers: std::ops::Range<u64>,
    ) -> Result<(), StoreError> {
        let mut tokens = Vec::new();
        let mut keys: Vec<PrimaryKey> = Vec::new();
        for number in numbers {
            let Some(token) = minted.first_token.checked_add(U256::from(number)) else { break };
            tier.minted += 1;
            let (place, uri) = (self.place(minted.collection, token), tier.uri_of(tier.minted));
            keys.extend(listing_keys(&place, owner.creator, owner.protocol, &uri));
            keys.push(moment_key(&place));
            tokens.push((number, place, uri));
        }
        self.work.prefetch(keys).await?;
        self.queue(tokens.iter().map(|(_, _, uri)| uri.as_str())).await?;
        for (number, place, uri) in tokens {
            if self.work.moment(&place).await?.is_some() {
                continue;
            }
            let mut moment = Moment {
                id: EventId::nth(self.chain.id, at.transaction, at.log_index, number),
                chain_id: self.chain.id,
                collection: place.collection,
                token_id: place.token,
                protocol: owner.protocol,
                uri,
                creator: owner.creator,
                admins: Vec::new(),
                max_supply: Amount(U256::ONE),
                minted: Amount(U256::ONE),
                burned: Amount::default(),
                sales: Vec::new(),
                royalty: None,
                fee_recipients: Vec::new(),
                hidden_by: self.hidden.get(&place).copied(),
                created_at: at.time,
                updated_at: at.time,
            };
            moment.fee_recipients = self.fee_recipients(&moment, owner).await?;
            self.work.put_moment(&moment)?;
            self.tell_moment((at, number), &moment, owner, EventData::MomentCreated)?;
            self.list_new(&moment, owner).await?;
        }
        Ok(())
    }

    /// Minted tokens keep their URI, as onchain.
    pub(super) async fn tier_uri_set(&mut self, collection: Address, tier: u8, uri: &str) -> Result<(), StoreError> {
        let (chain, collection) = (self.chain.id, collection.into());
        let mut stored = self.work.tier(chain, collection, tier).await?.unwrap_or_default();
        stored.uri = clip_uri(uri);
        self.work.put_tier(chain, collection, tier, &stored)
    }
}
