//! Reads ranges of blocks from unreliable nodes: ones that limit ranges, lag behind each other, or reorganise meanwhile.
//!
//! Final blocks are read by number, many at a time. Newer ones are read one by one by hash, and each must be the next
//! one's parent: a node that lacks a block can't pass it off as empty, and no two parts of an answer are of different
//! chains.

use std::collections::{BTreeMap, BTreeSet};

use alloy::{
    primitives::{Address, B256},
    rpc::types::{Filter, Log},
};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::{
        Chain,
        node::{BlockFacts, Node, NodeError},
    },
    model::Protocol,
    store::BlockId,
};

use crate::{
    event::{ChainEvent, Fact, Position},
    protocol::{reader::ProtocolReader, readers},
    span::Span,
};

/// Most addresses in one filter; nodes refuse longer lists.
const MAX_ADDRESSES: usize = 500;

/// Most blocks that aren't final in one range.
const MAX_SINGLE: u64 = 32;

/// Concurrent requests to a node.
const PARALLEL: usize = 4;

/// Known collections and their protocols.
pub type Collections = BTreeMap<Address, Protocol>;

/// Why a range couldn't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Every node failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The chain was reorganised since the last read or during this one.
    #[error("the chain was reorganised")]
    Reorganised,
}

/// A range that was read.
#[derive(Debug)]
pub struct BlockRange {
    /// Events in the order of [`ChainEvent::order`].
    pub events: Vec<ChainEvent>,
    /// The last block.
    pub last: BlockId,
}

/// Reads the events of one chain.
pub struct EventReader {
    nodes: Vec<Node>,
    /// Index of the node that is asked first: the last that answered.
    preferred: usize,
    protocols: Vec<ProtocolReader>,
    span: Span,
    calls: u64,
}

impl EventReader {
    /// A reader of a chain through its nodes.
    pub fn new(chain: &Chain, nodes: &Node) -> Self {
        let nodes = nodes.each().collect();
        Self { nodes, preferred: 0, protocols: readers(chain), span: Span::default(), calls: 0 }
    }

    /// Requests to nodes so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Contracts that are never listed as admins.
    pub fn factories(&self) -> Vec<Address> {
        self.protocols.iter().flat_map(ProtocolReader::factories).copied().collect()
    }

    /// Number of the newest block: the preferred node's or, when that lacks block `known`, the highest of all nodes.
    pub async fn newest_block(&mut self, known: Option<u64>) -> Result<u64, NodeError> {
        let mut newest = Err(NodeError::MissingBlock(known.unwrap_or_default()));
        for index in self.order() {
            self.calls += 1;
            match (self.node(index).newest_block().await, &newest) {
                (Ok(number), Ok(most)) if number <= *most => {}
                (Err(_), Ok(_)) => {}
                (answer, _) => {
                    self.preferred = index;
                    newest = answer;
                }
            }
            if newest.as_ref().is_ok_and(|newest| known.is_none_or(|known| *newest >= known)) {
                break;
            }
        }
        newest
    }

    /// The hash of a block, from the first node that has it.
    pub async fn block_hash(&mut self, number: u64) -> Result<B256, NodeError> {
        Ok(self.block(number).await?.hash)
    }

    /// Hash, parent and time of a block, from the first node that has it.
    pub async fn block(&mut self, number: u64) -> Result<BlockFacts, NodeError> {
        let mut last = NodeError::MissingBlock(number);
        for index in self.order() {
            self.calls += 1;
            match self.node(index).block(number).await {
                Ok(block) => return Ok(block),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Reads blocks from `first` on, up to `last` or as many as the nodes give in one range. `before` is the indexed block
    /// before `first`, `final_block` the last final one. Fails when no node gives even one block, or when the chain was
    /// reorganised.
    pub async fn read(
        &mut self,
        first: u64,
        last: u64,
        before: Option<BlockId>,
        final_block: Option<u64>,
        known: &Collections,
    ) -> Result<BlockRange, ReadError> {
        // A range is either final or not, since the two are read in different ways.
        let last = final_block.filter(|&block| first <= block).map_or(last, |block| last.min(block));
        let is_final = final_block.is_some_and(|block| last <= block);
        loop {
            let end = self.span.end(first, last).min(if is_final { last } else { first + MAX_SINGLE - 1 });
            let mut failure = None;
            for index in self.order() {
                match self.read_from(index, first, end, before, is_final, known).await {
                    Ok(range) => {
                        self.preferred = index;
                        self.span.succeeded(end - first + 1);
                        return Ok(range);
                    }
                    Err(error) => failure = Some(error),
                }
            }
            match failure {
                // Nodes word "range too large" in many ways, so every failed range is retried with fewer blocks.
                Some(ReadError::Node(error)) if end > first => {
                    self.span.failed(end - first + 1);
                    tracing::warn!(first, end, %error, "asking for fewer blocks");
                }
                Some(error) => return Err(error),
                None => return Err(NodeError::MissingBlock(first).into()),
            }
        }
    }

    async fn read_from(
        &mut self,
        index: usize,
        first: u64,
        end: u64,
        before: Option<BlockId>,
        is_final: bool,
        known: &Collections,
    ) -> Result<BlockRange, ReadError> {
        let (last, scopes, mut times) = if is_final {
            (self.block_at(index, end).await?.hash, vec![Filter::new().select(first..=end)], BTreeMap::new())
        } else {
            let blocks = self.linked_blocks(index, first, end, before).await?;
            let last = blocks.last().map(|(_, block)| block.hash).ok_or(NodeError::MissingBlock(end))?;
            let scopes = blocks.iter().map(|(_, block)| Filter::new().at_block_hash(block.hash)).collect();
            (last, scopes, blocks.iter().map(|(number, block)| (*number, block.time)).collect())
        };
        let mut contracts: Vec<Address> = self.protocols.iter().flat_map(ProtocolReader::contracts).copied().collect();
        contracts.extend(known.keys());
        let mut logs = self.logs(index, &scopes, &contracts).await?;
        // Collections created in this range have events in it too.
        let (mut known, mut created) = (known.clone(), Vec::new());
        for (collection, protocol) in self.created(&logs) {
            if known.insert(collection, protocol).is_none() {
                created.push(collection);
            }
        }
        logs.extend(self.logs(index, &scopes, &created).await?);
        times.extend(self.missing_times(index, &logs, &times).await?);
        let mut events: Vec<_> = logs.iter().filter_map(|log| self.event(log, &known, &times)).collect();
        events.sort_by_key(ChainEvent::order);
        Ok(BlockRange { events, last: BlockId { number: end, hash: last } })
    }

    /// Facts of consecutive blocks, each the next one's parent, and `before` the first one's.
    async fn linked_blocks(
        &mut self,
        index: usize,
        first: u64,
        end: u64,
        before: Option<BlockId>,
    ) -> Result<Vec<(u64, BlockFacts)>, ReadError> {
        let node = self.node(index);
        let ask = |number| {
            let node = node.clone();
            async move { Ok::<_, NodeError>((number, node.block(number).await?)) }
        };
        self.calls += end - first + 1;
        let blocks: Vec<(u64, BlockFacts)> =
            stream::iter((first..=end).map(ask)).buffered(PARALLEL).try_collect().await?;
        let mut parent = before.map(|block| block.hash);
        for (_, block) in &blocks {
            if parent.is_some_and(|parent| parent != block.parent) {
                return Err(ReadError::Reorganised);
            }
            parent = Some(block.hash);
        }
        Ok(blocks)
    }

    /// The contracts' logs in all scopes.
    async fn logs(&mut self, index: usize, scopes: &[Filter], contracts: &[Address]) -> Result<Vec<Log>, NodeError> {
        let topics: Vec<B256> = self.protocols.iter().flat_map(ProtocolReader::topics).collect();
        let node = self.node(index);
        let filters = contracts.chunks(MAX_ADDRESSES).flat_map(|addresses| {
            let filter = |scope: &Filter| scope.clone().address(addresses.to_vec()).event_signature(topics.clone());
            scopes.iter().map(filter).collect::<Vec<_>>()
        });
        let filters: Vec<Filter> = filters.collect();
        self.calls += filters.len() as u64;
        let ask = |filter: Filter| {
            let node = node.clone();
            async move { node.logs(&filter).await }
        };
        let answers: Vec<Vec<Log>> =
            stream::iter(filters.into_iter().map(ask)).buffer_unordered(PARALLEL).try_collect().await?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// Collections created in these logs.
    fn created(&self, logs: &[Log]) -> Vec<(Address, Protocol)> {
        let announced = |log: &Log| {
            let protocol = self.protocols.iter().find(|protocol| protocol.contracts().contains(&log.address()))?;
            match protocol.read(&log.inner)? {
                Fact::CollectionCreated(created) => Some((created.address, protocol.protocol())),
                _ => None,
            }
        };
        logs.iter().filter_map(announced).collect()
    }

    /// Decodes a log; `None` when it is pending or no indexed event.
    fn event(&self, log: &Log, known: &Collections, times: &BTreeMap<u64, u64>) -> Option<ChainEvent> {
        let emitter = log.address();
        let block = log.block_number?;
        let at = Position {
            block,
            block_hash: log.block_hash?,
            time: log.block_timestamp.or_else(|| times.get(&block).copied())?,
            transaction: log.transaction_hash?,
            transaction_index: log.transaction_index?,
            log_index: log.log_index?,
        };
        let of = known.get(&emitter);
        let reader = self.protocols.iter().find(|protocol| match of {
            Some(of) => protocol.protocol() == *of,
            None => protocol.contracts().contains(&emitter),
        })?;
        Some(ChainEvent { emitter, protocol: reader.protocol(), at, fact: reader.read(&log.inner)? })
    }

    /// Times of blocks that neither the logs nor `known` tell.
    async fn missing_times(
        &mut self,
        index: usize,
        logs: &[Log],
        known: &BTreeMap<u64, u64>,
    ) -> Result<BTreeMap<u64, u64>, NodeError> {
        let timeless = logs.iter().filter(|log| log.block_timestamp.is_none()).filter_map(|log| log.block_number);
        let blocks: BTreeSet<u64> = timeless.filter(|number| !known.contains_key(number)).collect();
        self.calls += blocks.len() as u64;
        let node = self.node(index);
        let ask = |number| {
            let node = node.clone();
            async move { Ok((number, node.block(number).await?.time)) }
        };
        stream::iter(blocks.into_iter().map(ask)).buffer_unordered(PARALLEL).try_collect().await
    }

    async fn block_at(&mut self, index: usize, number: u64) -> Result<BlockFacts, NodeError> {
        self.calls += 1;
        self.node(index).block(number).await
    }

    /// Indexes of the nodes, the preferred one first.
    fn order(&self) -> Vec<usize> {
        let count = self.nodes.len();
        (0..count).map(|step| (self.preferred + step) % count).collect()
    }

    fn node(&self, index: usize) -> Node {
        self.nodes[index].clone()
    }
}
