//! Minted editions: each token becomes a moment.

use std::ops::Range;

use alloy::primitives::{Address, U256};
use shared::{
    model::{Amount, Collection, EventData, EventId, Moment},
    store::{
        StoreError,
        chain::{NamedDocument, Tier, listing_keys, moment_key},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, EditionMinted},
};

/// Most tokens accepted of one event: far more than a block has gas for.
const MAX_QUANTITY: u64 = 50_000;

/// Tokens that are created together where nobody but the creator is an admin: an artist among the admins has timelines of
/// their own.
const CHUNK: u64 = 40;

impl Kind for EditionMinted {
    /// The creator is known once the collection is read.
    fn names(&self) -> Option<Address> {
        None
    }

    /// Each token has a document of its own.
    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![applier.collection_key(event.emitter)]
    }

    async fn apply(&self, event: &ChainEvent, applier: &mut Applier<'_>, done: u64) -> Result<Option<u64>, StoreError> {
        let (chain, quantity) = (applier.chain.id, self.quantity.min(MAX_QUANTITY));
        let Some(owner) = applier.work.collection(chain, event.emitter.into()).await? else { return Ok(None) };
        let mut tier = applier.work.tier(chain, owner.address, self.tier).await?.unwrap_or_default();
        let chunk = (CHUNK / (1 + owner.admins.len() as u64)).max(1);
        let mut next = done;
        while next < quantity && !(next > done && applier.is_full()) {
            let end = quantity.min(next + chunk);
            self.create_tokens(event, applier, &owner, &mut tier, next..end).await?;
            next = end;
        }
        applier.work.put_tier(chain, owner.address, self.tier, &tier)?;
        Ok((next < quantity).then_some(next))
    }
}

impl EditionMinted {
    async fn create_tokens(
        &self,
        ChainEvent { emitter, at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        owner: &Collection,
        tier: &mut Tier,
        numbers: Range<u64>,
    ) -> Result<(), StoreError> {
        let mut tokens = Vec::new();
        let mut keys: Vec<PrimaryKey> = Vec::new();
        for number in numbers {
            let Some(token) = self.first_token.checked_add(U256::from(number)) else { break };
            tier.minted += 1;
            let (place, uri) = (applier.place(*emitter, token), tier.uri_of(tier.minted));
            keys.extend(listing_keys(&place, owner.creator, owner.protocol, &uri));
            keys.push(moment_key(&place));
            tokens.push((number, place, uri));
        }
        applier.work.prefetch(keys).await?;
        let (collection, time) = ((*emitter).into(), at.time);
        let named = tokens.iter().map(|(_, _, uri)| NamedDocument { uri, collection, at: time });
        applier.queue_documents(named).await?;
        for (number, place, uri) in tokens {
            if applier.work.moment(&place).await?.is_some() {
                continue;
            }
            let mut moment = Moment {
                id: EventId::nth(place.chain, at.transaction, at.log_index, number),
                chain_id: place.chain,
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
                moved_to: None,
                hidden_by: applier.hidden.get(&place).copied(),
                is_withheld: applier.withheld.has(&place, owner.creator),
                created_at: at.time,
                updated_at: at.time,
            };
            moment.fee_recipients = applier.fee_recipients(&moment, owner).await?;
            applier.work.put_moment(&moment)?;
            applier.emit(at, number, EventData::MomentCreated(events::moment(at, &moment, owner)))?;
            applier.list_new(&moment, owner).await?;
        }
        Ok(())
    }
}
