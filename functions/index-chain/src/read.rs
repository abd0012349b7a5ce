//! Reads ranges of blocks from nodes that can't be relied on: ones that give only so much at a time, that lag behind
//! each other, or whose chain changes while it is read. A range is read from one node and only believed when its blocks
//! were the same before and after.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, B256},
    rpc::types::{Filter, Log},
};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::{
        Chain,
        node::{Node, NodeError},
    },
    model::Protocol,
    store::BlockId,
};

use crate::{
    event::{ChainEvent, Fact, Position},
    protocol::{ProtocolReader, readers},
    span::Span,
};

/// Most addresses in one filter; nodes refuse longer lists.
const MAX_ADDRESSES: usize = 500;

/// How many questions are put to a node at the same time.
const PARALLEL: usize = 4;

/// The collections that are known, with whose contracts they are of.
pub type Collections = BTreeMap<Address, Protocol>;

/// Why a range couldn't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No node gave it.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The chain isn't the one that was read before, or changed meanwhile.
    #[error("the chain has other blocks than before")]
    Reorganised,
}

/// Blocks that were read.
#[derive(Debug)]
pub struct BlockRange {
    /// What happened in them, in the order of the chain.
    pub events: Vec<ChainEvent>,
    /// The last of them.
    pub last: BlockId,
}

/// Reads one chain.
pub struct EventReader {
    nodes: Vec<Node>,
    /// Which node is asked first: the one that answered last.
    preferred: usize,
    protocols: Vec<Box<dyn ProtocolReader>>,
    span: Span,
    /// Questions put to nodes so far.
    calls: u64,
}

impl EventReader {
    /// A reader of this chain through its nodes.
    pub fn new(chain: &Chain, nodes: &Node) -> Self {
        let nodes = nodes.each().collect();
        Self { nodes, preferred: 0, protocols: readers(chain), span: Span::default(), calls: 0 }
    }

    /// How many questions were put to nodes.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Accounts that are nobody's admins, whatever the contracts say.
    pub fn factories(&self) -> Vec<Address> {
        self.protocols.iter().flat_map(|protocol| protocol.factories()).collect()
    }

    /// Number of the newest block: at the preferred node or, when that lacks block `known`, at whichever has most.
    ///
    /// # Errors
    /// When no node answers.
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

    /// The hash of a block.
    ///
    /// # Errors
    /// When no node answers or has it.
    pub async fn block_hash(&mut self, number: u64) -> Result<B256, NodeError> {
        Ok(self.block(number).await?.0)
    }

    /// The hash and the Unix time, in seconds, of a block.
    ///
    /// # Errors
    /// When no node answers or has it.
    pub async fn block(&mut self, number: u64) -> Result<(B256, u64), NodeError> {
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

    /// Reads blocks from `first` on, at most to `last`: as many as the nodes give at a time. `before` is the block before
    /// them as it was read, `final_block` the last one that the chain won't drop.
    ///
    /// # Errors
    /// When no node gives even one block, or the chain isn't the one that was read before.
    pub async fn read(
        &mut self,
        first: u64,
        last: u64,
        before: Option<BlockId>,
        final_block: Option<u64>,
        known: &Collections,
    ) -> Result<BlockRange, ReadError> {
        // What is final needs less care: a range has blocks of one kind only.
        let last = final_block.filter(|&block| first <= block).map_or(last, |block| last.min(block));
        let is_final = final_block.is_some_and(|block| last <= block);
        loop {
            let end = self.span.end(first, last);
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
                // Nodes word "too much at once" in many ways: anything but one block is worth another try with less.
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
        let pinned = if is_final { None } else { Some(self.hash_at(index, end).await?) };
        let mut contracts: Vec<Address> = self.protocols.iter().flat_map(|protocol| protocol.contracts()).collect();
        contracts.extend(known.keys());
        let mut logs = self.logs(index, first, end, &contracts).await?;
        // Collections made in this very range have events in it too.
        let (mut known, mut created) = (known.clone(), Vec::new());
        for (collection, protocol) in self.created(&logs) {
            if known.insert(collection, protocol).is_none() {
                created.push(collection);
            }
        }
        logs.extend(self.logs(index, first, end, &created).await?);
        let hash = self.hash_at(index, end).await?;
        if pinned.is_some_and(|before| before != hash) {
            return Err(ReadError::Reorganised);
        }
        if let Some(before) = before.filter(|_| !is_final)
            && self.hash_at(index, before.number).await? != before.hash
        {
            return Err(ReadError::Reorganised);
        }
        let times = self.missing_times(index, &logs).await?;
        let mut events: Vec<_> = logs.iter().filter_map(|log| self.event(log, &known, &times)).collect();
        events.sort_by_key(|event| (event.at.block, event.at.log_index));
        Ok(BlockRange { events, last: BlockId { number: end, hash } })
    }

    async fn logs(&mut self, index: usize, first: u64, end: u64, contracts: &[Address]) -> Result<Vec<Log>, NodeError> {
        let topics: Vec<B256> = self.protocols.iter().flat_map(|protocol| protocol.topics()).collect();
        let node = self.node(index);
        let calls = contracts.chunks(MAX_ADDRESSES).map(|addresses| {
            let filter = Filter::new().select(first..=end).address(addresses.to_vec());
            let (node, filter) = (node.clone(), filter.event_signature(topics.clone()));
            async move { node.logs(&filter).await }
        });
        self.calls += contracts.len().div_ceil(MAX_ADDRESSES) as u64;
        let answers: Vec<Vec<Log>> = stream::iter(calls).buffer_unordered(PARALLEL).try_collect().await?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// The collections that factories announce.
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

    /// What a log says; `None` when it is pending, removed, or nothing that counts.
    fn event(&self, log: &Log, known: &Collections, times: &BTreeMap<u64, u64>) -> Option<ChainEvent> {
        let emitter = log.address();
        let block = log.block_number?;
        let at = Position {
            block,
            block_hash: log.block_hash?,
            time: log.block_timestamp.or_else(|| times.get(&block).copied())?,
            transaction: log.transaction_hash?,
            log_index: log.log_index?,
        };
        let of = known.get(&emitter);
        let reader = self.protocols.iter().find(|protocol| match of {
            Some(of) => protocol.protocol() == *of,
            None => protocol.contracts().contains(&emitter),
        })?;
        Some(ChainEvent { emitter, protocol: reader.protocol(), at, fact: reader.read(&log.inner)? })
    }

    /// The times of blocks whose logs don't tell them.
    async fn missing_times(&mut self, index: usize, logs: &[Log]) -> Result<BTreeMap<u64, u64>, NodeError> {
        let timeless = logs.iter().filter(|log| log.block_timestamp.is_none()).filter_map(|log| log.block_number);
        let blocks: std::collections::BTreeSet<u64> = timeless.collect();
        self.calls += blocks.len() as u64;
        let node = self.node(index);
        let ask = |number| {
            let node = node.clone();
            async move { Ok((number, node.block(number).await?.1)) }
        };
        stream::iter(blocks.into_iter().map(ask)).buffer_unordered(PARALLEL).try_collect().await
    }

    async fn hash_at(&mut self, index: usize, number: u64) -> Result<B256, NodeError> {
        self.calls += 1;
        Ok(self.node(index).block(number).await?.0)
    }

    /// The nodes, the preferred one first.
    fn order(&self) -> Vec<usize> {
        let count = self.nodes.len();
        (0..count).map(|step| (self.preferred + step) % count).collect()
    }

    fn node(&self, index: usize) -> Node {
        self.nodes[index].clone()
    }
}
