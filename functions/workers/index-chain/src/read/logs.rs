//! Logs of ranges of blocks. Nodes are asked for few topics of all contracts or, for events that are common elsewhere and
//! over short lists, for those of our contracts; what is foreign is dropped here.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, B256, Bloom, BloomInput},
    rpc::types::{Filter, Log},
};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::node::{BlockFacts, Node, NodeError},
    model::Protocol,
};

use crate::{event::Collections, protocol::reader::ProtocolReader};

/// Most addresses in one filter; nodes refuse longer lists.
const MAX_ADDRESSES: usize = 500;

/// Most filters by address for one range. With more collections, nodes are asked by topic alone.
const MAX_BY_ADDRESS: usize = 20;

/// Concurrent requests to a node.
pub const PARALLEL: usize = 4;

/// Most requests that one block is split into before its receipts are read.
const MAX_SPLITS: usize = 60;

/// Bits of a bloom filter above which it says too little: every third value seems to be in it.
const MAX_BITS: u32 = 1_400;

/// What is asked for.
pub struct Wanted {
    /// Topics that hardly any other contract emits.
    rare: Vec<B256>,
    /// By protocol, topics that many other contracts emit, too.
    common: BTreeMap<Protocol, Vec<B256>>,
    /// Contracts at known addresses.
    contracts: Vec<Address>,
}

/// Addresses and topics of one request.
#[derive(Clone, Debug)]
struct Part {
    addresses: Vec<Address>,
    topics: Vec<B256>,
}

/// Requests for a range.
pub struct Parts {
    parts: Vec<Part>,
    /// Whether they are for our contracts and collections alone, or for what has the rare topics.
    pub is_by_address: bool,
}

impl Wanted {
    pub fn of(protocols: &[ProtocolReader]) -> Self {
        let mut common: BTreeMap<Protocol, Vec<B256>> = BTreeMap::new();
        for protocol in protocols {
            let topics: Vec<B256> = protocol.common_topics().collect();
            if !topics.is_empty() {
                common.insert(protocol.protocol(), topics);
            }
        }
        let mut rare: Vec<B256> = protocols.iter().flat_map(ProtocolReader::rare_topics).collect();
        rare.sort_unstable();
        rare.dedup();
        let contracts = protocols.iter().flat_map(ProtocolReader::contracts).copied().collect();
        Self { rare, common, contracts }
    }

    fn everything(&self) -> Vec<B256> {
        self.rare.iter().chain(self.common.values().flatten()).copied().collect()
    }

    /// What to ask for of final blocks, if these collections are known.
    pub fn parts(&self, known: &Collections) -> Parts {
        let addresses = self.contracts.len() + known.len();
        let is_by_address = addresses.div_ceil(MAX_ADDRESSES) <= MAX_BY_ADDRESS;
        let parts = if is_by_address {
            let all: Vec<Address> = self.contracts.iter().chain(known.keys()).copied().collect();
            in_parts(&all, &self.everything())
        } else {
            self.by_topic(known.iter().map(|(address, of)| (*address, *of)))
        };
        Parts { parts, is_by_address }
    }

    /// What to ask for of collections that weren't known when the range was asked for.
    pub fn parts_of(&self, new: &Collections, is_by_address: bool) -> Parts {
        let parts = if is_by_address {
            in_parts(&new.keys().copied().collect::<Vec<_>>(), &self.everything())
        } else {
            self.common_parts(new.iter().map(|(address, of)| (*address, *of)))
        };
        Parts { parts, is_by_address }
    }

    /// Logs of one block with the topics that hardly any other contract emits, checked against its header.
    pub async fn rare_in_block(&self, node: &Node, block: &BlockFacts, may_split: bool) -> Result<Vec<Log>, NodeError> {
        let part = Part { addresses: Vec::new(), topics: self.rare.clone() };
        self.parts_in_block(node, block, vec![part], may_split, &mut 0).await
    }

    /// Logs of one block with the other topics, of these collections.
    pub async fn common_in_block(
        &self,
        node: &Node,
        block: &BlockFacts,
        collections: impl Iterator<Item = (Address, Protocol)>,
        may_split: bool,
        calls: &mut u64,
    ) -> Result<Vec<Log>, NodeError> {
        self.parts_in_block(node, block, self.common_parts(collections), may_split, calls).await
    }

    async fn parts_in_block(
        &self,
        node: &Node,
        block: &BlockFacts,
        parts: Vec<Part>,
        may_split: bool,
        calls: &mut u64,
    ) -> Result<Vec<Log>, NodeError> {
        let single = may_split.then_some(block.number);
        let logs = ask(node, &Filter::new().at_block_hash(block.hash), single, parts, calls).await?;
        self.check(&logs, block)?;
        Ok(logs)
    }

    /// Whether a block's bloom filter names a topic that none of its logs has. It may be by chance.
    pub fn seem_incomplete(&self, logs: &[Log], block: &BlockFacts) -> bool {
        let has = |topic: &B256| logs.iter().any(|log| log.topic0() == Some(topic));
        self.rare.iter().any(|topic| contains(&block.logs_bloom, topic.as_slice()) && !has(topic))
    }

    /// The wanted logs of a block from its receipts, which must make up the header's bloom filter.
    pub async fn in_receipts(&self, node: &Node, block: &BlockFacts) -> Result<Vec<Log>, NodeError> {
        let logs = node.receipt_logs(block.number).await?;
        let mut bloom = Bloom::ZERO;
        for log in &logs {
            bloom.accrue_log(&log.inner);
        }
        if bloom != block.logs_bloom {
            return Err(NodeError::Wrong("receipts that aren't the block's"));
        }
        self.check(&logs, block)?;
        let topics = self.everything();
        Ok(logs.into_iter().filter(|log| log.topic0().is_some_and(|topic| topics.contains(topic))).collect())
    }

    fn check(&self, logs: &[Log], block: &BlockFacts) -> Result<(), NodeError> {
        let is_of_block = |log: &Log| {
            let is_there = log.block_hash == Some(block.hash) && log.block_number == Some(block.number);
            is_there && !log.removed && contains(&block.logs_bloom, log.address().as_slice())
        };
        if logs.iter().all(is_of_block) { Ok(()) } else { Err(NodeError::Wrong("logs of another block")) }
    }

    fn by_topic(&self, known: impl Iterator<Item = (Address, Protocol)>) -> Vec<Part> {
        let rare = Part { addresses: Vec::new(), topics: self.rare.clone() };
        let mut parts = self.common_parts(known);
        parts.push(rare);
        parts
    }

    fn common_parts(&self, collections: impl Iterator<Item = (Address, Protocol)>) -> Vec<Part> {
        let mut by_protocol: BTreeMap<Protocol, Vec<Address>> = BTreeMap::new();
        for (address, protocol) in collections.filter(|(_, protocol)| self.common.contains_key(protocol)) {
            by_protocol.entry(protocol).or_default().push(address);
        }
        let part =
            |(protocol, addresses): (Protocol, Vec<Address>)| Some(in_parts(&addresses, self.common.get(&protocol)?));
        by_protocol.into_iter().filter_map(part).flatten().collect()
    }
}

/// Logs of final blocks.
pub async fn in_range(node: &Node, range: (u64, u64), parts: Parts, calls: &mut u64) -> Result<Vec<Log>, NodeError> {
    let scope = Filter::new().select(range.0..=range.1);
    let single = (range.0 == range.1).then_some(range.0);
    let logs = ask(node, &scope, single, parts.parts, calls).await?;
    if logs.iter().any(|log| log.removed || !log.block_number.is_some_and(|at| range.0 <= at && at <= range.1)) {
        return Err(NodeError::Wrong("logs of other blocks"));
    }
    Ok(logs)
}

/// Whether a bloom filter is too full to say what is missing.
pub fn is_full(block: &BlockFacts) -> bool {
    block.logs_bloom.iter().map(|byte| byte.count_ones()).sum::<u32>() > MAX_BITS
}

fn contains(bloom: &Bloom, value: &[u8]) -> bool {
    bloom.contains_input(BloomInput::Raw(value))
}

fn in_parts(addresses: &[Address], topics: &[B256]) -> Vec<Part> {
    let part = |addresses: &[Address]| Part { addresses: addresses.to_vec(), topics: topics.to_vec() };
    addresses.chunks(MAX_ADDRESSES).map(part).collect()
}

async fn ask(
    node: &Node,
    scope: &Filter,
    single: Option<u64>,
    parts: Vec<Part>,
    calls: &mut u64,
) -> Result<Vec<Log>, NodeError> {
    *calls += parts.len() as u64;
    let request = |part: Part| async move {
        match (part.request(node, scope).await, single) {
            (Err(error), Some(block)) if !error.is_rate_limit() => {
                tracing::warn!(block, %error, "logs of block refused: requested in parts");
                part.split_up(node, scope, block).await
            }
            (answer, _) => answer,
        }
    };
    let answers: Vec<Vec<Log>> =
        stream::iter(parts.into_iter().map(request)).buffer_unordered(PARALLEL).try_collect().await?;
    Ok(answers.into_iter().flatten().collect())
}

impl Part {
    async fn request(&self, node: &Node, scope: &Filter) -> Result<Vec<Log>, NodeError> {
        let filter = scope.clone().event_signature(self.topics.clone());
        let filter = if self.addresses.is_empty() { filter } else { filter.address(self.addresses.clone()) };
        node.logs(&filter).await
    }

    /// Logs of a block that has more than the node answers with: first by address, then by topic, then from its
    /// receipts.
    async fn split_up(&self, node: &Node, scope: &Filter, block: u64) -> Result<Vec<Log>, NodeError> {
        let (mut logs, mut open, mut requests) = (Vec::new(), self.halves(), 0);
        if open.is_empty() {
            return self.in_receipts(node, block).await;
        }
        while let Some(part) = open.pop() {
            requests += 1;
            match part.request(node, scope).await {
                Ok(found) => logs.extend(found),
                Err(error) if error.is_rate_limit() => return Err(error),
                Err(_) => match part.halves() {
                    halves if halves.is_empty() || requests > MAX_SPLITS => {
                        return self.in_receipts(node, block).await;
                    }
                    halves => open.extend(halves),
                },
            }
        }
        Ok(logs)
    }

    fn halves(&self) -> Vec<Self> {
        fn halved<T: Clone>(values: &[T]) -> Option<[Vec<T>; 2]> {
            let (one, other) = values.split_at(values.len() / 2);
            (!one.is_empty()).then(|| [one.to_vec(), other.to_vec()])
        }
        if let Some(halves) = halved(&self.addresses) {
            return halves.map(|addresses| Self { addresses, topics: self.topics.clone() }).into();
        }
        let halves = halved(&self.topics).map(|halves| halves.map(|topics| Self { topics, ..self.clone() }));
        halves.into_iter().flatten().collect()
    }

    async fn in_receipts(&self, node: &Node, block: u64) -> Result<Vec<Log>, NodeError> {
        let is_wanted = |log: &Log| {
            let is_of_ours = self.addresses.is_empty() || self.addresses.contains(&log.address());
            is_of_ours && log.topic0().is_some_and(|topic| self.topics.contains(topic))
        };
        Ok(node.receipt_logs(block).await?.into_iter().filter(is_wanted).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_halved_by_address_and_then_by_topic_until_nothing_is_left_to_halve() {
        let (address, topic) = (Address::repeat_byte, B256::repeat_byte);
        let part = Part { addresses: vec![address(1), address(2)], topics: vec![topic(1), topic(2)] };
        let mut open = vec![part];
        let mut smallest = Vec::new();
        while let Some(part) = open.pop() {
            match part.halves() {
                halves if halves.is_empty() => smallest.push((part.addresses, part.topics)),
                halves => open.extend(halves),
            }
        }
        smallest.sort_unstable();
        let expected = [(1, 1), (1, 2), (2, 1), (2, 2)].map(|(one, other)| (vec![address(one)], vec![topic(other)]));
        assert_eq!(smallest, expected);
    }
}
