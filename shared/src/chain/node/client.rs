//! RPC client of a chain. Calls have a time-out, never go beyond the request's deadline, and name the block they read.

use std::{sync::Arc, time::Duration};

use alloy::{
    eips::{BlockId, BlockNumberOrTag},
    primitives::{Address, B256, Bloom, Bytes, U256},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::client::RpcClient,
    rpc::types::{
        Block, Filter, Log, TransactionRequest,
        simulate::{SimBlock, SimCallResult, SimulatePayload},
        state::StateOverride,
    },
    sol_types::SolCall,
    transports::{
        RpcError, TransportErrorKind,
        http::{Http, reqwest},
        utils::guess_local_url,
    },
};
use serde::Deserialize;
use url::Url;

use super::{
    fault::{NodeFault, halt_in_words},
    gathering::Reads,
    health::{Endpoint, Health, NodeTimes},
    pace::{PacedNode, Patience, SharedPace, is_rate_limit},
    urls::NodeUrls,
};
use crate::{
    model::{ChainId, MarketFees},
    telemetry::trace::TracedNode,
};

/// Reason why the nodes of a chain gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Error of the last node; earlier ones are logged.
    #[error("no node answered")]
    Rpc(#[source] RpcError<TransportErrorKind>),
    /// The nodes lack a block.
    #[error("no node has block {0}")]
    MissingBlock(u64),
    /// The request's time was up before a node answered.
    #[error("no time left for the nodes")]
    Deadline,
    /// A node's answer contradicts itself or an earlier one.
    #[error("a node's answer is wrong: {0}")]
    Wrong(&'static str),
    /// The error of a call that several reads shared.
    #[error(transparent)]
    Shared(Arc<NodeError>),
    /// Nobody knows which nonce is a sender's next one, with the reason why no block proves it.
    #[error("no block proves which nonce is next")]
    Undecided(#[source] Box<NodeError>),
    /// No node is configured for the chain.
    #[error("RPC_URLS names no node for chain {0}")]
    None(ChainId),
    /// The HTTP client couldn't be built.
    #[error("HTTP client couldn't be built")]
    Client(#[from] reqwest::Error),
}

impl NodeError {
    /// The error's classification.
    pub fn fault(&self) -> NodeFault {
        match self {
            Self::Rpc(error) => NodeFault::of(error),
            Self::Shared(error) => error.fault(),
            _ => NodeFault::Unknown,
        }
    }

    /// Whether the node only wants calls to come slower.
    pub fn is_rate_limit(&self) -> bool {
        match self {
            Self::Rpc(error) => is_rate_limit(error),
            Self::Shared(error) => error.is_rate_limit(),
            _ => false,
        }
    }

    /// Data of a revert, empty if the contract gave no reason; `None` for other errors.
    pub fn revert_data(&self) -> Option<Bytes> {
        match self {
            Self::Rpc(RpcError::ErrorResp(payload)) if self.fault() == NodeFault::Reverted => {
                Some(payload.as_revert_data().unwrap_or_default())
            }
            _ => None,
        }
    }

    /// Why the EVM stopped the call, in words; `None` for other errors and for reverts, which have their own reason.
    pub fn halt(&self) -> Option<&'static str> {
        match self {
            Self::Rpc(RpcError::ErrorResp(payload)) if payload.as_revert_data().is_none() => {
                halt_in_words(&payload.message)
            }
            _ => None,
        }
    }
}

/// Header fields of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Number of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: B256,
    /// Hash of the previous block.
    pub parent: B256,
    /// Unix time in seconds.
    pub time: u64,
    /// Bloom filter over the addresses and topics of the block's logs.
    pub logs_bloom: Bloom,
}

/// The part of a receipt that all types of transactions have, those of other chains' own types included.
#[derive(Debug, Deserialize)]
struct ReceiptLogs {
    logs: Vec<Log>,
}

/// The nodes of one chain.
#[derive(Clone)]
pub struct Node {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) times: NodeTimes,
    pub(super) reads: Reads<NodeError>,
    pub(super) reads_in_bulk: Reads<NodeError>,
}

impl Node {
    const TIMEOUT: Duration = Duration::from_secs(10);
    const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);
    /// Most gas of a call that isn't sent, as of one transaction (EIP-7825): strangers' contracts run in it.
    pub(super) const CALL_GAS: u64 = 16_777_216;
    const READ_GAS: u64 = 10_000_000;

    /// The nodes of `chain`, each with a time-out of 10 s, for workers. Fails if none is configured. Doesn't connect. All
    /// of a process keep each node's pace.
    pub fn new(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        Self::with_timeout(urls, chain, Self::TIMEOUT)
    }

    /// Like [`Node::new`], with a time-out of 4 s, for calls while a client waits.
    pub fn for_requests(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        Self::connect(urls, chain, Self::REQUEST_TIMEOUT, Patience::REQUEST)
    }

    /// Like [`Node::new`], with the given time-out per node.
    pub fn with_timeout(urls: &NodeUrls, chain: ChainId, timeout: Duration) -> Result<Self, NodeError> {
        Self::connect(urls, chain, timeout, Patience::WORKER)
    }

    /// Like [`Node::new`], for workers that make many calls: each node is waited for as long as it asks.
    pub fn paced(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        let nodes = urls.of(chain).ok_or(NodeError::None(chain))?;
        Self::connect_to(nodes, Self::TIMEOUT, Patience::READER)
    }

    /// Nodes of a chain that has none: each call fails.
    pub fn none() -> Self {
        Self::of(Vec::new())
    }

    /// The same nodes, with other times than [`NodeTimes::default`].
    pub fn with_times(&self, times: NodeTimes) -> Self {
        Self { times, ..self.clone() }
    }

    /// The same nodes, for calls that others pass at a node that limits calls, and of which it gets few at once.
    pub fn in_bulk(&self) -> Self {
        let in_bulk = |endpoint: &Endpoint| Endpoint { provider: endpoint.bulk.clone(), ..endpoint.clone() };
        let endpoints = self.endpoints.iter().map(in_bulk).collect();
        Self { endpoints, reads: self.reads_in_bulk.clone(), ..self.clone() }
    }

    pub(super) fn of(endpoints: Vec<Endpoint>) -> Self {
        let (reads, reads_in_bulk) = (Reads::default(), Reads::default());
        Self { endpoints, times: NodeTimes::default(), reads, reads_in_bulk }
    }

    fn connect(urls: &NodeUrls, chain: ChainId, timeout: Duration, alone: Patience) -> Result<Self, NodeError> {
        let urls = urls.of(chain).ok_or(NodeError::None(chain))?;
        Self::connect_to(urls, timeout, if urls.len() > 1 { Patience::ONE_OF_SEVERAL } else { alone })
    }

    fn connect_to(urls: &[Url], timeout: Duration, patience: Patience) -> Result<Self, NodeError> {
        // A node that redirects would name another one, which nobody configured.
        let client = reqwest::Client::builder().timeout(timeout).redirect(reqwest::redirect::Policy::none()).build()?;
        let connect = |url: &Url| {
            let (pace, is_local) = (SharedPace::of(url), guess_local_url(url));
            let provider = |is_bulk| {
                let transport = TracedNode::new(Http::with_client(client.clone(), url.clone()), url.clone());
                let paced = PacedNode::new(transport, pace.clone(), patience, is_bulk);
                let builder = ProviderBuilder::new().disable_recommended_fillers();
                builder.connect_client(RpcClient::new(paced, is_local)).erased()
            };
            Endpoint { provider: provider(false), bulk: provider(true), health: Health::default() }
        };
        Ok(Self::of(urls.iter().map(connect).collect()))
    }

    /// Number of the newest block.
    pub async fn newest_block(&self) -> Result<u64, NodeError> {
        self.ask(|node| async move { node.get_block_number().await }).await
    }

    /// Matching logs in the order of the chain. An error can also mean that the filter covers too much.
    pub async fn logs(&self, filter: &Filter) -> Result<Vec<Log>, NodeError> {
        self.ask(|node| async move { node.get_logs(filter).await }).await
    }

    /// Header fields of a block.
    pub async fn block(&self, number: u64) -> Result<BlockFacts, NodeError> {
        let block = self.tagged_block(BlockNumberOrTag::Number(number)).await?;
        block.filter(|block| block.number == number).ok_or(NodeError::MissingBlock(number))
    }

    /// Header fields of the newest block.
    pub async fn head(&self) -> Result<BlockFacts, NodeError> {
        self.tagged_block(BlockNumberOrTag::Latest).await?.ok_or(NodeError::MissingBlock(0))
    }

    /// The newest block that can't be dropped, by the chain's consensus, if any. Fails on nodes without the tag.
    pub async fn finalized(&self) -> Result<Option<BlockFacts>, NodeError> {
        self.tagged_block(BlockNumberOrTag::Finalized).await
    }

    async fn tagged_block(&self, tag: BlockNumberOrTag) -> Result<Option<BlockFacts>, NodeError> {
        let question = |node: DynProvider| async move { node.get_block_by_number(tag).await };
        let note = |health: &Health, block: &Option<Block>| {
            if let Some(block) = block.as_ref().filter(|_| tag.is_latest()) {
                Self::saw_head(health, block.header.number, block.header.timestamp);
            }
        };
        let block = self.ask_noting(question, note).await?;
        Ok(block.map(|block| BlockFacts {
            number: block.header.number,
            hash: block.header.hash,
            parent: block.header.parent_hash,
            time: block.header.timestamp,
            logs_bloom: block.header.logs_bloom,
        }))
    }

    /// The EIP-155 id of the chain that the node follows.
    pub async fn chain_id(&self) -> Result<ChainId, NodeError> {
        Ok(ChainId(self.ask(|node| async move { node.get_chain_id().await }).await?))
    }

    /// All logs of a block, from its receipts (`eth_getBlockReceipts`). Some nodes lack the method.
    pub async fn receipt_logs(&self, number: u64) -> Result<Vec<Log>, NodeError> {
        let tag = BlockNumberOrTag::Number(number);
        let receipts: Option<Vec<ReceiptLogs>> =
            self.ask(|node| async move { node.raw_request("eth_getBlockReceipts".into(), (tag,)).await }).await?;
        let receipts = receipts.ok_or(NodeError::MissingBlock(number))?;
        Ok(receipts.into_iter().flat_map(|receipt| receipt.logs).collect())
    }

    /// Logs of a transaction; `None` if the node doesn't have it.
    pub async fn transaction_logs(&self, hash: B256) -> Result<Option<Vec<Log>>, NodeError> {
        let receipt: Option<ReceiptLogs> =
            self.ask(|node| async move { node.raw_request("eth_getTransactionReceipt".into(), (hash,)).await }).await?;
        Ok(receipt.map(|receipt| receipt.logs))
    }

    /// Unix time of the newest block, in seconds.
    pub async fn newest_block_time(&self) -> Result<u64, NodeError> {
        Ok(self.head().await?.time)
    }

    /// Result of a call at the newest block, with accounts' state overridden. Gets one transaction's gas at most.
    pub async fn call(&self, call: &TransactionRequest, overrides: &StateOverride) -> Result<Bytes, NodeError> {
        let call = call.clone().gas_limit(call.gas.unwrap_or(Self::CALL_GAS));
        self.call_at(BlockNumberOrTag::Latest, &call, overrides).await
    }

    /// The same on top of a block.
    pub async fn call_at(
        &self,
        block: impl Into<BlockId>,
        call: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<Bytes, NodeError> {
        let at = block.into();
        self.ask(|node| async move { node.call(call.clone()).overrides(overrides.clone()).block(at).await }).await
    }

    /// Result of a view at the newest block; `None` if it reverts, uses over 10 million gas, or isn't there.
    pub async fn read<C: SolCall>(&self, contract: Address, function: &C) -> Result<Option<C::Return>, NodeError> {
        self.read_at(None, contract, function).await
    }

    /// The same as of the block with this hash, if there is one: results of the same block are consistent. Reads of the
    /// same moment are one call.
    pub async fn read_at<C: SolCall>(
        &self,
        block: Option<B256>,
        contract: Address,
        function: &C,
    ) -> Result<Option<C::Return>, NodeError> {
        let (at, data) = (block.map_or(BlockId::latest(), BlockId::from), function.abi_encode());
        if let Some(answer) = self.read_together(at, contract, data.clone()).await? {
            return Ok(C::abi_decode_returns(&answer).ok());
        }
        let call = TransactionRequest::default().to(contract).input(data.into()).gas_limit(Self::READ_GAS);
        match self.call_at(at, &call, &StateOverride::default()).await {
            Ok(answer) => Ok(C::abi_decode_returns(&answer).ok()),
            Err(error) if error.fault() == NodeFault::Reverted || error.halt().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Results of consecutive calls on top of the newest block (`eth_simulateV1`). Some nodes lack the method.
    pub async fn simulate(&self, calls: Vec<TransactionRequest>) -> Result<Vec<SimCallResult>, NodeError> {
        self.simulate_on(BlockId::latest(), vec![SimBlock::default().extend_calls(calls)]).await
    }

    /// Results of the calls of consecutive blocks on top of one (`eth_simulateV1`).
    pub async fn simulate_on(
        &self,
        block: impl Into<BlockId>,
        blocks: Vec<SimBlock>,
    ) -> Result<Vec<SimCallResult>, NodeError> {
        let payload = &SimulatePayload { block_state_calls: blocks, ..SimulatePayload::default() };
        let at = block.into();
        let blocks = self.ask(|node| async move { node.simulate(payload).block_id(at).await }).await?;
        Ok(blocks.into_iter().flat_map(|block| block.calls).collect())
    }

    /// Gas that a transaction needs, with some accounts' code or balance replaced; an error if it reverts, or needs more
    /// than one transaction's.
    pub async fn estimate_gas_with(
        &self,
        transaction: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<u64, NodeError> {
        let bounded = transaction.clone().gas_limit(transaction.gas.unwrap_or(Self::CALL_GAS));
        let bounded = &bounded;
        self.ask(|node| async move {
            let estimate = node.estimate_gas(bounded.clone()).overrides(overrides.clone());
            estimate.block(BlockId::latest()).await
        })
        .await
    }

    /// Whether a contract is deployed at an address.
    pub async fn has_code(&self, address: Address) -> Result<bool, NodeError> {
        Ok(!self.ask(|node| async move { node.get_code_at(address).await }).await?.is_empty())
    }

    /// Whether it was as of a block. Fails where no node has that block's state.
    pub async fn has_code_at(&self, block: u64, address: Address) -> Result<bool, NodeError> {
        let at = BlockId::number(block);
        Ok(!self.ask(|node| async move { node.get_code_at(address).block_id(at).await }).await?.is_empty())
    }

    /// Balance of an account, in wei.
    pub async fn balance(&self, address: Address) -> Result<U256, NodeError> {
        self.ask(|node| async move { node.get_balance(address).await }).await
    }

    /// Market fees, estimated from the last blocks. One call.
    pub async fn market_fees(&self) -> Result<MarketFees, NodeError> {
        // Many nodes refuse a tip of 0, even when blocks have room.
        const LEAST_TIP: u128 = 1_000_000;
        const BLOCKS: u64 = 5;
        let history = self
            .ask(|node| async move { node.get_fee_history(BLOCKS, BlockNumberOrTag::Latest, &[50.0]).await })
            .await?;
        let next = history.next_block_base_fee().unwrap_or_default();
        let mut tips: Vec<_> = history.reward.unwrap_or_default().into_iter().flatten().collect();
        tips.sort_unstable();
        let median = tips.get(tips.len() / 2).copied().unwrap_or_default().max(LEAST_TIP);
        let fee = |amount: u128| u64::try_from(amount).unwrap_or(u64::MAX);
        let blocks = history.gas_used_ratio.len() as u64;
        let block = history.oldest_block.saturating_add(blocks).saturating_sub(1);
        Ok(MarketFees { block, base: fee(next), tip: fee(median) })
    }

    /// Nonce of a sender's next transaction: as of a block, or also after pending ones (`Pending`).
    pub async fn next_nonce(&self, sender: Address, at: impl Into<BlockId>) -> Result<u64, NodeError> {
        let at = at.into();
        self.ask(|node| async move { node.get_transaction_count(sender).block_id(at).await }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry;

    #[tokio::test]
    async fn the_error_of_an_unreachable_node_hides_its_url() {
        let urls: NodeUrls = r#"{"1": ["http://127.0.0.1:1/secret-key"]}"#.parse().unwrap();
        let node = Node::new(&urls, ChainId(1)).unwrap();
        let error = node.newest_block().await.unwrap_err();
        assert_eq!(error.fault(), NodeFault::NoAnswer);
        let line = telemetry::chain(&error);
        assert!(!line.contains("secret-key"), "{line}");
    }
}
