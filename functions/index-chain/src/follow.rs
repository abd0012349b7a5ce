//! Follows one chain from its checkpoint. The checkpoint moves only past blocks that are read and applied.

use std::ops::RangeInclusive;

use alloy::{
    primitives::{Address, B256},
    rpc::types::Filter,
};
use shared::{
    chain::{
        Chain,
        node::{Node, NodeError},
    },
    model::ChainId,
    store::{Checkpoints, StoreError},
};

use crate::{
    apply::Index,
    event::{COLLECTION_TOPICS, ChainEvent, EventKind, FIXED_TOPICS},
};

/// Why a chain couldn't be read further.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Most blocks asked for at a time.
const MAX_SPAN: u64 = 2_000;

/// Most addresses in one filter; nodes refuse longer lists.
const MAX_ADDRESSES: usize = 500;

/// One chain and how far it is read.
pub struct Follower {
    chain: Chain,
    node: Node,
    checkpoints: Checkpoints,
    index: Index,
    span: u64,
}

impl Follower {
    /// A follower that starts where the checkpoint is.
    pub fn new(chain: Chain, node: Node, checkpoints: Checkpoints, index: Index) -> Self {
        Self { chain, node, checkpoints, index, span: MAX_SPAN }
    }

    /// The chain that is followed.
    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    /// Reads whatever is confirmed and not read yet. Gives the first block that isn't read, and how many events there
    /// were.
    ///
    /// # Errors
    /// When nodes or storage fail; what was read before stays read.
    pub async fn follow(&mut self) -> Result<(u64, usize), IndexError> {
        let confirmed = self.node.newest_block().await?.checked_sub(self.chain.confirmations);
        let mut checkpoint = self.checkpoints.next_block(self.chain.id).await?;
        let mut next = checkpoint.unwrap_or(self.chain.first_block);
        let mut events = 0;
        while let Some(confirmed) = confirmed.filter(|&confirmed| next <= confirmed) {
            let (last, read) = self.read_from(next, confirmed).await?;
            events += read;
            if !self.checkpoints.advance(self.chain.id, checkpoint, last + 1).await? {
                tracing::info!(chain.id = self.chain.id.0, "another run reads this chain");
                break;
            }
            next = last + 1;
            checkpoint = Some(next);
        }
        Ok((next, events))
    }

    /// Reads blocks again, without moving the checkpoint.
    ///
    /// # Errors
    /// When nodes or storage fail.
    pub async fn read_again(&mut self, from: Option<u64>, to: Option<u64>) -> Result<(u64, usize), IndexError> {
        let newest = self.node.newest_block().await?;
        let last = to.unwrap_or(newest).min(newest);
        let mut next = from.unwrap_or(self.chain.first_block);
        let mut events = 0;
        while next <= last {
            let (done, read) = self.read_from(next, last).await?;
            events += read;
            next = done + 1;
        }
        Ok((next, events))
    }

    /// Reads and applies blocks from `first` on, at most to `last`: as many as the nodes give at a time. Gives the last
    /// block read, and how many events there were.
    async fn read_from(&mut self, first: u64, last: u64) -> Result<(u64, usize), IndexError> {
        loop {
            let end = last.min(first.saturating_add(self.span - 1));
            match self.events(first..=end).await {
                Ok(events) => {
                    let count = events.len();
                    self.index.apply(&self.chain, &self.node, events).await?;
                    self.span = (self.span * 2).min(MAX_SPAN);
                    return Ok((end, count));
                }
                // Nodes word "too much at once" in many ways: anything but one block is worth another try with half.
                Err(IndexError::Node(error)) if end > first => {
                    tracing::warn!(chain.id = self.chain.id.0, first, end, %error, "asking for half as many blocks");
                    self.span = (end - first).div_ceil(2);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The events of a range of blocks, in the order of the chain.
    async fn events(&mut self, blocks: RangeInclusive<u64>) -> Result<Vec<ChainEvent>, IndexError> {
        let known = &self.chain.addresses;
        let fixed = [known.factory, known.fixed_price_minter, known.erc20_minter, known.timed_minter, known.comments];
        let mut events = self.logs(&blocks, &fixed, &FIXED_TOPICS).await?;

        // Collections made in this very range have tokens in it too.
        let created = events.iter().filter_map(|event| match &event.kind {
            EventKind::CollectionCreated(created) if event.emitter == known.factory => Some(created.newContract),
            _ => None,
        });
        let mut collections = self.index.collections(self.chain.id).await?.clone();
        collections.extend(created);
        let collections: Vec<Address> = collections.into_iter().collect();
        for addresses in collections.chunks(MAX_ADDRESSES) {
            events.extend(self.logs(&blocks, addresses, &COLLECTION_TOPICS).await?);
        }
        events.sort_by_key(|event| (event.block, event.log_index));
        Ok(events)
    }

    async fn logs(
        &self,
        blocks: &RangeInclusive<u64>,
        addresses: &[Address],
        topics: &[B256],
    ) -> Result<Vec<ChainEvent>, IndexError> {
        let filter = Filter::new().select(blocks.clone()).address(addresses.to_vec()).event_signature(topics.to_vec());
        Ok(self.node.logs(&filter).await?.iter().filter_map(ChainEvent::decode).collect())
    }
}
