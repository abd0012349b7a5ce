//! Reads ranges of blocks from unreliable nodes: ones that limit ranges, lag, omit logs, follow another chain, or
//! reorganise meanwhile.
//!
//! Final blocks are read by number, many at a time. Newer ones are read one by one by hash, and each must be the next
//! one's parent: a node that lacks a block can't pass it off as empty, and no two parts of an answer are of different
//! chains.

mod logs;
mod nodes;
mod prefetch;
mod range_size;
mod referrals;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque, hash_map::Entry};

use alloy::{
    primitives::{Address, B256},
    rpc::types::Log,
};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::{
        Chain,
        node::{BlockFacts, Node, NodeError},
    },
    model::Protocol,
    store::engine::BlockId,
};
use tokio::sync::mpsc::Sender;

pub use self::nodes::Head;
use self::{
    logs::{PARALLEL, Wanted, in_range, is_full},
    nodes::Nodes,
    prefetch::{MAX_PREFETCHED, Prefetched, RangeLogs},
    range_size::RangeSize,
};
use crate::{
    event::{self, ChainEvent, Collections, Fact, Position},
    protocol::{reader::ProtocolReader, readers},
};

/// Most blocks that aren't final in one range.
const MAX_SINGLE: u64 = 32;

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
    /// The first block.
    pub first: u64,
    /// Events in the order of [`ChainEvent::order`].
    pub events: Vec<ChainEvent>,
    /// The last block.
    pub last: BlockId,
    /// Unix time of the last block, in seconds.
    pub time: u64,
}

/// Reads the events of one chain.
pub struct EventReader {
    nodes: Nodes,
    protocols: Vec<ProtocolReader>,
    wanted: Wanted,
    /// Collections up to the last block that was read.
    known: Collections,
    range_size: RangeSize,
    calls: u64,
}

impl EventReader {
    /// A reader of a chain through its nodes.
    pub fn new(chain: &Chain, nodes: &Node) -> Self {
        let protocols = readers(chain);
        let wanted = Wanted::of(&protocols);
        let known = Collections::new();
        Self { nodes: Nodes::new(chain, nodes), protocols, wanted, known, range_size: RangeSize::default(), calls: 0 }
    }

    /// Whether the chain has nodes.
    pub fn has_nodes(&self) -> bool {
        self.nodes.exist()
    }

    /// Requests to nodes so far.
    pub fn calls(&self) -> u64 {
        self.calls + self.nodes.calls
    }

    /// Contracts that are never listed as admins.
    pub fn factories(&self) -> Vec<Address> {
        self.protocols.iter().flat_map(ProtocolReader::factories).copied().collect()
    }

    /// Sets the collections that exist before the next range.
    pub fn set_known(&mut self, known: Collections) {
        self.known = known;
    }

    /// Starts a run: the nodes are compared anew.
    pub fn recheck_nodes(&mut self) {
        self.nodes.recheck();
    }

    /// The newest block, from a node that has block `known` if there is one.
    pub async fn head(&mut self, known: Option<u64>) -> Result<Head, NodeError> {
        self.nodes.head(known).await
    }

    /// The hash of a block, from the first node that has it.
    pub async fn block_hash(&mut self, number: u64) -> Result<B256, NodeError> {
        let mut last = NodeError::MissingBlock(number);
        for index in self.nodes.order() {
            self.calls += 1;
            match self.nodes.get(index).block(number).await {
                Ok(block) => return Ok(block.hash),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Reads blocks from `first` to `last`, all of them final or none, until `is_over` or nobody takes the ranges any more.
    pub async fn read_all(
        &mut self,
        (mut first, last): (u64, u64),
        mut before: Option<BlockId>,
        final_block: Option<u64>,
        is_over: &(impl Fn() -> bool + Sync),
        ranges: Sender<BlockRange>,
    ) -> Result<(), ReadError> {
        let is_final = final_block.is_some_and(|block| last <= block);
        while first <= last && !is_over() {
            // The first range is compared with what is indexed.
            let range = self.read(first, last, before, final_block).await?;
            (first, before) = (range.last.number + 1, Some(range.last));
            if ranges.send(range).await.is_err() {
                break;
            }
            if is_final {
                let Some(read) = self.prefetch((first, last), is_over, &ranges).await else { break };
                (first, before) = read.map_or((first, before), |last| (last.number + 1, Some(last)));
            }
        }
        Ok(())
    }

    /// Reads final ranges, several at once, for as long as the preferred node gives them: the others aren't asked. Returns
    /// the last block; `None` if nobody takes the ranges any more.
    async fn prefetch(
        &mut self,
        (first, last): (u64, u64),
        is_over: &(impl Fn() -> bool + Sync),
        ranges: &Sender<BlockRange>,
    ) -> Option<Option<BlockId>> {
        let node = self.nodes.preferred();
        let (mut prefetched, mut learned) = (VecDeque::new(), Vec::new());
        let (mut next, mut read) = (first, None);
        loop {
            while prefetched.len() < MAX_PREFETCHED && next <= last && !is_over() {
                let end = self.range_size.end(next, last);
                let parts = self.wanted.parts(&self.known);
                prefetched.push_back(Prefetched::start(node.clone(), (next, end), parts, learned.len()));
                next = end + 1;
            }
            let Some(range) = prefetched.pop_front() else { return Some(read) };
            let known = range.known;
            let Ok(logs) = range.wait().await else { return Some(read) };
            let missing = learned.get(known..).unwrap_or_default().iter().copied().collect();
            let Ok((range, new)) = self.finished(&node, logs, missing).await else { return Some(read) };
            learned.extend(new);
            self.range_size.succeeded(range.last.number - range.first + 1, range.events.len());
            read = Some(range.last);
            ranges.send(range).await.ok()?;
        }
    }

    /// A range with the logs of `missing` collections, which weren't asked for, and of those that are created in it. Returns
    /// these, too.
    async fn finished(
        &mut self,
        node: &Node,
        range: RangeLogs,
        mut missing: Collections,
    ) -> Result<(BlockRange, Collections), NodeError> {
        let RangeLogs { first, last, mut logs, is_by_address, calls } = range;
        self.calls += calls;
        missing.extend(created(&self.protocols, &logs).into_iter().filter(|(it, _)| !self.known.contains_key(it)));
        let range = (first, last.number);
        let parts = self.wanted.parts_of(&missing, is_by_address);
        logs.extend(in_range(node, range, parts, &mut self.calls).await?);
        self.decoded(node, (first, last), logs, BTreeMap::from([(last.number, last.time)])).await
    }

    /// Reads blocks from `first` on, up to `last` or as many as the nodes give in one range. `before` is the indexed block
    /// before `first` or, if that is indexed in part, `first` itself; `final_block` is the last final one. Fails when no
    /// node gives even one block, or when the chain was reorganised.
    async fn read(
        &mut self,
        first: u64,
        last: u64,
        before: Option<BlockId>,
        final_block: Option<u64>,
    ) -> Result<BlockRange, ReadError> {
        // A range is either final or not, since the two are read in different ways.
        let last = final_block.filter(|&block| first <= block).map_or(last, |block| last.min(block));
        let is_final = final_block.is_some_and(|block| last <= block);
        loop {
            let end = self.range_size.end(first, last).min(if is_final { last } else { first + MAX_SINGLE - 1 });
            let mut failure = None;
            for index in self.nodes.order() {
                match self.read_from(index, first, end, before, is_final).await {
                    Ok(range) => {
                        self.nodes.prefer(index);
                        self.range_size.succeeded(end - first + 1, range.events.len());
                        return Ok(range);
                    }
                    Err(error) => failure = Some(error),
                }
            }
            match failure {
                // Nodes word "range too large" in many ways, so every failed range is retried with fewer blocks.
                Some(ReadError::Node(error)) if end > first && !error.is_rate_limit() => {
                    self.range_size.failed(end - first + 1);
                    tracing::warn!(chain.id = self.nodes.chain_id().0, first, end, %error, "range of blocks refused: a smaller one is requested");
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
    ) -> Result<BlockRange, ReadError> {
        let node = self.nodes.get(index);
        if is_final {
            let range = RangeLogs::read(node.clone(), first, end, self.wanted.parts(&self.known)).await?;
            if before.is_some_and(|before| before.number == end && before.hash != range.last.hash) {
                return Err(ReadError::Reorganised);
            }
            return Ok(self.finished(&node, range, Collections::new()).await?.0);
        }
        let blocks = self.linked_blocks(&node, first, end, before).await?;
        let last = *blocks.last().ok_or(NodeError::MissingBlock(end))?;
        let logs = self.single_blocks(index, &blocks).await?;
        let times = blocks.iter().map(|block| (block.number, block.time)).collect();
        Ok(self.decoded(&node, (first, last), logs, times).await?.0)
    }

    /// The events of logs from block `first` to `last`, and the collections created there. `times` are those of blocks.
    async fn decoded(
        &mut self,
        node: &Node,
        (first, last): (u64, BlockFacts),
        logs: Vec<Log>,
        mut times: BTreeMap<u64, u64>,
    ) -> Result<(BlockRange, Collections), NodeError> {
        times.extend(self.missing_times(node, &logs, &times).await?);
        let mut new = Collections::new();
        for (collection, protocol) in created(&self.protocols, &logs) {
            if !self.known.contains_key(&collection) {
                new.entry(collection).or_insert(protocol);
            }
        }
        let mut events: Vec<_> = logs.iter().filter_map(|log| self.event(log, &new, &times)).collect();
        self.find_originals(node, &mut events).await?;
        events.sort_by_key(ChainEvent::order);
        events.dedup_by_key(|event| event.order());
        self.calls += referrals::find(node, &mut events).await?;
        self.known.extend(new.iter().map(|(address, of)| (*address, *of)));
        let range =
            BlockRange { first, events, last: BlockId { number: last.number, hash: last.hash }, time: last.time };
        Ok((range, new))
    }

    /// Facts of consecutive blocks, each the next one's parent, and `before` the first one's.
    async fn linked_blocks(
        &mut self,
        node: &Node,
        first: u64,
        end: u64,
        before: Option<BlockId>,
    ) -> Result<Vec<BlockFacts>, ReadError> {
        self.calls += end - first + 1;
        let ask = |number| async move { node.block(number).await };
        let blocks: Vec<BlockFacts> =
            stream::iter((first..=end).map(ask)).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
        let mut parent = before.filter(|before| before.number + 1 == first).map(|before| before.hash);
        let started = before.filter(|before| before.number == first).map(|before| before.hash);
        for block in &blocks {
            let is_other = block.number == first && started.is_some_and(|started| started != block.hash);
            if is_other || parent.is_some_and(|parent| parent != block.parent) {
                return Err(ReadError::Reorganised);
            }
            parent = Some(block.hash);
        }
        Ok(blocks)
    }

    /// Logs of blocks, each asked for by its hash and checked against its header.
    async fn single_blocks(&mut self, index: usize, blocks: &[BlockFacts]) -> Result<Vec<Log>, ReadError> {
        let (node, may_split) = (self.nodes.get(index), blocks.len() == 1);
        let (wanted, known) = (&self.wanted, &self.known);
        let ask = |block: BlockFacts| {
            let node = &node;
            async move { Ok::<_, NodeError>((block, wanted.rare_in_block(node, &block, may_split).await?)) }
        };
        self.calls += blocks.len() as u64;
        let answers: Vec<_> =
            stream::iter(blocks.iter().copied().map(ask)).buffered(PARALLEL).try_collect::<Vec<_>>().await?;
        // A collection of one block has events in later ones.
        let new: Vec<_> = answers.iter().flat_map(|(_, logs)| created(&self.protocols, logs)).collect();
        let mut all = Vec::new();
        for block in blocks {
            let new = new.iter().copied().filter(|(address, _)| !known.contains_key(address));
            let collections = known.iter().map(|(address, of)| (*address, *of)).chain(new);
            all.extend(wanted.common_in_block(&node, block, collections, may_split, &mut self.calls).await?);
        }
        for (block, logs) in answers {
            if self.wanted.seem_incomplete(&logs, &block) {
                all.extend(self.confirmed(index, &block, logs).await?);
            } else {
                all.extend(logs);
            }
        }
        Ok(all)
    }

    /// The logs of a block whose header names more: from its receipts or, where its bloom filter is too full to say or
    /// no node has them, the longer list of two nodes.
    async fn confirmed(&mut self, index: usize, block: &BlockFacts, logs: Vec<Log>) -> Result<Vec<Log>, NodeError> {
        let order = self.nodes.order();
        if !is_full(block) {
            for index in &order {
                self.calls += 1;
                if let Ok(logs) = self.wanted.in_receipts(&self.nodes.get(*index), block).await {
                    return Ok(logs);
                }
            }
        }
        for other in order.into_iter().filter(|other| *other != index) {
            self.calls += 1;
            if let Ok(again) = self.wanted.rare_in_block(&self.nodes.get(other), block, true).await {
                if again.len() > logs.len() {
                    let chain = self.nodes.chain_id().0;
                    tracing::warn!(
                        chain.id = chain,
                        block = block.number,
                        node = index,
                        "node omitted logs of a block"
                    );
                    return Ok(again);
                }
                return Ok(logs);
            }
        }
        Ok(logs)
    }

    /// Decodes a log; `None` when it is pending or no indexed event.
    fn event(&self, log: &Log, new: &Collections, times: &BTreeMap<u64, u64>) -> Option<ChainEvent> {
        let emitter = log.address();
        let of = self.known.get(&emitter).or_else(|| new.get(&emitter));
        let reader = self.protocols.iter().find(|protocol| match of {
            Some(of) => protocol.protocol() == *of,
            None => protocol.contracts().contains(&emitter),
        })?;
        let block = log.block_number?;
        let at = Position {
            block,
            block_hash: log.block_hash?,
            time: log.block_timestamp.or_else(|| times.get(&block).copied())?,
            transaction: log.transaction_hash?,
            transaction_index: log.transaction_index?,
            log_index: log.log_index?,
        };
        Some(ChainEvent { emitter, protocol: reader.protocol(), at, fact: reader.read(&log.inner)?.clipped() })
    }

    /// Finds the mint-time comments that backfilled ones repeat. Those of transactions that the node doesn't have are
    /// left alone.
    async fn find_originals(&mut self, node: &Node, events: &mut [ChainEvent]) -> Result<(), NodeError> {
        let mut found: HashMap<B256, Vec<(u64, Fact)>> = HashMap::new();
        for event in events {
            let Fact::Commented(said) = &mut event.fact else { continue };
            let Some(original) = &mut said.original else { continue };
            if let Entry::Vacant(entry) = found.entry(original.transaction) {
                self.calls += 1;
                let logs = node.transaction_logs(original.transaction).await?.unwrap_or_default();
                let fact = |log: &Log| {
                    let reader = self.protocols.iter().find(|it| it.contracts().contains(&log.address()))?;
                    Some((log.log_index?, reader.read(&log.inner)?.clipped()))
                };
                entry.insert(logs.iter().filter_map(fact).collect());
            }
            let repeats = |fact: &Fact| {
                let Fact::MintCommented(event::MintCommented { collection, token, sender, text }) = fact else {
                    return false;
                };
                (*collection, *token, *sender) == (said.collection, said.token, said.sender) && *text == said.text
            };
            let of_transaction = found.get(&original.transaction).into_iter().flatten();
            original.log_index = of_transaction.into_iter().find(|(_, fact)| repeats(fact)).map(|(index, _)| *index);
        }
        Ok(())
    }

    /// Times of blocks that neither the logs nor `known` have.
    async fn missing_times(
        &mut self,
        node: &Node,
        logs: &[Log],
        known: &BTreeMap<u64, u64>,
    ) -> Result<BTreeMap<u64, u64>, NodeError> {
        let is_ours = |log: &&Log| {
            let address = log.address();
            self.known.contains_key(&address) || self.protocols.iter().any(|it| it.contracts().contains(&address))
        };
        let timeless = logs.iter().filter(|log| log.block_timestamp.is_none());
        let mut blocks: BTreeSet<u64> = timeless.clone().filter(is_ours).filter_map(|log| log.block_number).collect();
        let new: BTreeSet<Address> = created(&self.protocols, logs).into_iter().map(|(address, _)| address).collect();
        blocks.extend(timeless.filter(|log| new.contains(&log.address())).filter_map(|log| log.block_number));
        blocks.retain(|number| !known.contains_key(number));
        self.calls += blocks.len() as u64;
        let ask = |number| async move { Ok((number, node.block(number).await?.time)) };
        stream::iter(blocks.into_iter().map(ask)).buffer_unordered(PARALLEL).try_collect().await
    }
}

/// Collections created in these logs.
fn created(protocols: &[ProtocolReader], logs: &[Log]) -> Vec<(Address, Protocol)> {
    let announced = |log: &Log| {
        let protocol = protocols.iter().find(|protocol| protocol.contracts().contains(&log.address()))?;
        match protocol.read(&log.inner)? {
            Fact::CollectionCreated(created) => Some((created.address, protocol.protocol())),
            _ => None,
        }
    };
    logs.iter().filter_map(announced).collect()
}
