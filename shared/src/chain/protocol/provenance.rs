//! Whether a collection was made by the configured factory: any contract can claim prices and permissions.

use std::collections::BTreeSet;

use alloy::{
    primitives::{Address, B256},
    rpc::types::{Filter, Log},
    sol_types::{SolCall, SolEvent},
};

use super::factory_addresses::FactoryAddresses;
use crate::{
    chain::{
        chains::Chain,
        contracts::native::CreatorFactory::{
            SetupNewContract, deterministicContractAddressCall, getOrCreateContractDeterministicCall,
        },
        node::{Node, NodeError},
        wallet::Call,
    },
    model,
    store::{
        StoreError,
        artist::{ArtistTable, MadeCollections},
        chain::{ChainTable, Moments},
        engine::Progress,
    },
    telemetry,
};

/// Blocks before the newest one whose logs are asked for. Many providers refuse more than 10,000, and new blocks come
/// meanwhile.
const LOG_RANGE: u64 = 9_900;

/// Where a collection comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A factory that the service knows made it.
    Factory,
    /// No such factory did.
    Stranger,
    /// The index and the nodes' logs don't tell yet.
    #[default]
    Unknown,
}

/// What is known of collections' origins.
#[derive(Clone)]
pub struct Provenance {
    index: ChainTable,
    moments: Moments,
    made: MadeCollections,
    addresses: FactoryAddresses,
    log_range: u64,
}

impl Provenance {
    /// Uses the index, and what the service's own transactions made.
    pub fn new(index: ChainTable, artists: ArtistTable) -> Self {
        Self {
            moments: Moments::new(index.clone()),
            index,
            made: MadeCollections::new(artists),
            addresses: FactoryAddresses::default(),
            log_range: LOG_RANGE,
        }
    }

    /// The index's collections and moments.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The same that asks for the logs of so many blocks before the newest one at most.
    pub fn with_log_range(self, log_range: u64) -> Self {
        Self { log_range, ..self }
    }

    /// Where a collection comes from. One read; for one that isn't indexed for good three more, and up to three calls.
    /// Where the index is further behind than logs are asked for, or nodes refuse them, its address tells: up to two calls
    /// more, and two for each factory.
    pub async fn of<E: From<StoreError> + From<NodeError>>(
        &self,
        node: &Node,
        chain: &Chain,
        collection: model::Address,
    ) -> Result<Origin, E> {
        if self.is_indexed(chain, collection).await? || self.made.contains(chain.id, collection).await? {
            return Ok(Origin::Factory);
        }
        // Read before the row, so that a block that is indexed meanwhile is asked for as well.
        let progress = Progress::of(&self.index, chain.id).await?;
        let unread = progress.first_unsettled().unwrap_or(chain.first_block);
        if self.is_indexed(chain, collection).await? {
            return Ok(Origin::Factory);
        }
        let newest = node.newest_block().await?;
        let first_asked = unread.max(newest.saturating_sub(self.log_range));
        let is_far_behind = first_asked > unread;
        if is_far_behind && self.addresses.contain(node, chain, collection.into()).await? {
            return Ok(Origin::Factory);
        }
        // Nodes refuse ranges that begin after their newest block.
        let logged = was_made_since(node, chain, collection, first_asked.min(newest)).await.inspect_err(|error| {
            let id = chain.id;
            tracing::warn!(chain.id = id.0, error = telemetry::chain(error), "factory's logs of chain {id} not read");
        });
        let Ok(is_logged) = logged else {
            // That says nothing of who made it.
            let is_known = !is_far_behind && self.addresses.contain(node, chain, collection.into()).await?;
            return Ok(if is_known { Origin::Factory } else { Origin::Unknown });
        };
        if is_logged {
            return Ok(Origin::Factory);
        }
        // The index has all that was made up to its last block. A node may not have the state of that any more.
        let indexed = progress.next_block.and_then(|next| next.checked_sub(1));
        let is_old = match indexed {
            Some(block) => node.has_code_at(block, collection.into()).await.unwrap_or_default(),
            None => false,
        };
        Ok(if is_old { Origin::Stranger } else { Origin::Unknown })
    }

    /// Notes the collections that the factory made in a block, by the logs there. A write per 100.
    pub async fn note(&self, chain: &Chain, logs: &[Log]) -> Result<(), StoreError> {
        let of_factory = logs.iter().filter(|log| log.address() == chain.addresses.factory);
        let made = of_factory.filter_map(|log| SetupNewContract::decode_log(&log.inner).ok());
        self.made.add(chain.id, made.map(|made| made.newContract.into()).collect()).await
    }

    /// Keeps that a collection is indexed, for the time in which the index is built anew. Two reads, and a write the
    /// first time.
    pub async fn keep(&self, chain: &Chain, collection: model::Address) -> Result<(), StoreError> {
        if self.is_indexed(chain, collection).await? && !self.made.contains(chain.id, collection).await? {
            self.made.add(chain.id, [collection].into()).await?;
        }
        Ok(())
    }

    async fn is_indexed(&self, chain: &Chain, collection: model::Address) -> Result<bool, StoreError> {
        // The indexer follows factories alone.
        Ok(self.moments.collection(chain.id, collection).await?.is_some())
    }
}

/// Collections that an account's calls make, unless they are there, at addresses that only the factory can give, as of
/// the block with this hash. A call each.
pub async fn made_by(
    node: &Node,
    chain: &Chain,
    account: Address,
    calls: &[Call],
    block: B256,
) -> Result<BTreeSet<Address>, NodeError> {
    let mut made = BTreeSet::new();
    for call in calls.iter().filter(|call| call.target == chain.addresses.factory) {
        let Ok(creation) = getOrCreateContractDeterministicCall::abi_decode(&call.data) else { continue };
        let question = deterministicContractAddressCall {
            msgSender: account,
            newContractURI: creation.newContractURI,
            name: creation.name,
            contractAdmin: creation.defaultAdmin,
        };
        made.extend(node.read_at(Some(block), chain.addresses.factory, &question).await?);
    }
    Ok(made)
}

/// Whether the factory made a collection in block `since` or later, by its own log: code can be copied. One call.
async fn was_made_since(node: &Node, chain: &Chain, collection: model::Address, since: u64) -> Result<bool, NodeError> {
    let made = Filter::new()
        .address(chain.addresses.factory)
        .event_signature(SetupNewContract::SIGNATURE_HASH)
        .topic1(Address::from(collection).into_word())
        .from_block(since);
    Ok(!node.logs(&made).await?.is_empty())
}
