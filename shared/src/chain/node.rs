//! A chain through its nodes. Several URLs a chain are tried in order, each with a time-out; never two at once. A node
//! that answers is believed: what it says of a call or a transaction isn't asked of another.

use std::{collections::BTreeMap, time::Duration};

use alloy::{
    eips::{BlockId, BlockNumberOrTag},
    primitives::{Address, B256, Bytes, U256},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::{
        Filter, Log, TransactionReceipt, TransactionRequest,
        simulate::{SimBlock, SimCallResult, SimulatePayload},
        state::StateOverride,
    },
    sol_types::SolCall,
    transports::{RpcError, TransportErrorKind, http::reqwest},
};
use url::Url;

use super::node_error::NodeFault;
use crate::{
    config::{self, ConfigError},
    model::{ChainId, MarketFees},
};

/// No node of a chain gave a usable answer.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The last node's error; the earlier ones' are in the log.
    #[error("no node answered")]
    Rpc(#[source] RpcError<TransportErrorKind>),
    /// A block that a node spoke of isn't there.
    #[error("no node has block {0}")]
    MissingBlock(u64),
    /// The configuration names no node for the chain.
    #[error("RPC_URLS names no node for chain {0}")]
    None(ChainId),
    /// The HTTP client can't be made.
    #[error("HTTP client")]
    Client(#[from] reqwest::Error),
}

impl NodeError {
    /// What it says of the call or transaction.
    pub fn fault(&self) -> NodeFault {
        match self {
            Self::Rpc(error) => NodeFault::of(error),
            _ => NodeFault::Unknown,
        }
    }

    /// What the contract reverted with, if it is a revert; empty when it gave no reason.
    pub fn revert_data(&self) -> Option<Bytes> {
        match self {
            Self::Rpc(RpcError::ErrorResp(payload)) if self.fault() == NodeFault::Reverted => {
                Some(payload.as_revert_data().unwrap_or_default())
            }
            _ => None,
        }
    }
}

/// No node said that it took a transaction.
#[derive(Debug, thiserror::Error)]
#[error("no node took the transaction")]
pub struct SendError {
    /// What the last node that was asked said of it.
    pub fault: NodeFault,
    /// Whether one may have taken it all the same, since its answer is unknown.
    pub may_have_left: bool,
    #[source]
    source: NodeError,
}

/// What a chain says of one nonce of a sender, all from the same node.
#[derive(Debug)]
pub struct NonceFacts {
    /// The receipt of whichever of the transactions asked for is mined.
    pub receipt: Option<TransactionReceipt>,
    /// Whether the nonce is used for good: by a block with as many on top as the chain needs for certainty.
    pub is_used_for_good: bool,
}

/// What a block says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Its hash.
    pub hash: B256,
    /// That of the block before it.
    pub parent: B256,
    /// Unix time in seconds.
    pub time: u64,
}

/// The nodes' URLs, for each chain.
#[derive(Clone)]
pub struct NodeUrls(BTreeMap<ChainId, Vec<Url>>);

impl NodeUrls {
    /// Reads `RPC_URLS`: a JSON object from chain id to a list of URLs, the preferred one first.
    ///
    /// # Errors
    /// When it is unset or something else.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed("RPC_URLS")
    }

    /// Whether there are nodes of this chain.
    pub fn names(&self, chain: ChainId) -> bool {
        self.0.get(&chain).is_some_and(|urls| !urls.is_empty())
    }
}

impl std::str::FromStr for NodeUrls {
    type Err = serde_json::Error;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        let urls: BTreeMap<String, Vec<Url>> = serde_json::from_str(json)?;
        let chains = urls.into_iter().map(|(chain, urls)| {
            let chain = chain.parse().map_err(serde::de::Error::custom)?;
            Ok((chain, urls))
        });
        chains.collect::<Result<_, _>>().map(Self)
    }
}

/// The nodes of one chain.
#[derive(Clone)]
pub struct Node {
    providers: Vec<DynProvider>,
}

impl Node {
    /// Longest wait for one node's answer, where nobody waits for ours.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// Longest wait for one node's answer while a client waits for ours.
    const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

    /// The nodes of `chain`. Opens no connection.
    ///
    /// # Errors
    /// When there are none, or the HTTP client can't be made.
    pub fn new(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        Self::with_timeout(urls, chain, Self::TIMEOUT)
    }

    /// The nodes of `chain`, none of which is waited for longer than a client can wait. Opens no connection.
    ///
    /// # Errors
    /// When there are none, or the HTTP client can't be made.
    pub fn for_requests(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        Self::with_timeout(urls, chain, Self::REQUEST_TIMEOUT)
    }

    /// The nodes of `chain`, none of which is waited for longer than `timeout`. Opens no connection.
    ///
    /// # Errors
    /// When there are none, or the HTTP client can't be made.
    pub fn with_timeout(urls: &NodeUrls, chain: ChainId, timeout: Duration) -> Result<Self, NodeError> {
        let urls = urls.0.get(&chain).filter(|urls| !urls.is_empty()).ok_or(NodeError::None(chain))?;
        let client = reqwest::Client::builder().timeout(timeout).build()?;
        let connect = |url: &Url| {
            let builder = ProviderBuilder::new().disable_recommended_fillers();
            builder.connect_reqwest(client.clone(), url.clone()).erased()
        };
        Ok(Self { providers: urls.iter().map(connect).collect() })
    }

    /// Each of the nodes alone, the preferred one first: what one of them says at one time fits together.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        self.providers.clone().into_iter().map(|provider| Self { providers: vec![provider] })
    }

    /// Number of the newest block.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn newest_block(&self) -> Result<u64, NodeError> {
        self.ask(|node| async move { node.get_block_number().await }).await
    }

    /// Logs that match, in the order of the chain.
    ///
    /// # Errors
    /// When no node answers, which may mean that the filter covers too much.
    pub async fn logs(&self, filter: &Filter) -> Result<Vec<Log>, NodeError> {
        self.ask(|node| async move { node.get_logs(filter).await }).await
    }

    /// What a block says of itself.
    ///
    /// # Errors
    /// When no node answers or has the block.
    pub async fn block(&self, number: u64) -> Result<BlockFacts, NodeError> {
        let tag = BlockNumberOrTag::Number(number);
        let block = self.ask(|node| async move { node.get_block_by_number(tag).await }).await?;
        let header = block.ok_or(NodeError::MissingBlock(number))?.header;
        Ok(BlockFacts { hash: header.hash, parent: header.parent_hash, time: header.timestamp })
    }

    /// Unix time of the newest block, in seconds: no later one is behind it.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn newest_block_time(&self) -> Result<u64, NodeError> {
        let block = self.ask(|node| async move { node.get_block_by_number(BlockNumberOrTag::Latest).await }).await?;
        block.map(|block| block.header.timestamp).ok_or(NodeError::MissingBlock(0))
    }

    /// What a call answers at the newest block, with some accounts' code or balance replaced.
    ///
    /// # Errors
    /// When it reverts ([`NodeError::revert_data`]) or no node answers.
    pub async fn call(&self, call: &TransactionRequest, overrides: &StateOverride) -> Result<Bytes, NodeError> {
        self.ask(|node| async move { node.call(call.clone()).overrides(overrides.clone()).await }).await
    }

    /// What a contract's function answers at the newest block. `None` when it reverts or answers something else, as
    /// what isn't such a contract does.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn read<C: SolCall>(&self, contract: Address, function: &C) -> Result<Option<C::Return>, NodeError> {
        let call = TransactionRequest::default().to(contract).input(function.abi_encode().into());
        match self.call(&call, &StateOverride::default()).await {
            Ok(answer) => Ok(C::abi_decode_returns(&answer).ok()),
            Err(error) if error.fault() == NodeFault::Reverted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What calls would do, one after the other, on top of the newest block. Not every node can tell.
    ///
    /// # Errors
    /// When no node knows the method (`eth_simulateV1`) or answers.
    pub async fn simulate(&self, calls: Vec<TransactionRequest>) -> Result<Vec<SimCallResult>, NodeError> {
        let payload = &SimulatePayload::default().extend(SimBlock::default().extend_calls(calls));
        let blocks = self.ask(|node| async move { node.simulate(payload).await }).await?;
        Ok(blocks.into_iter().flat_map(|block| block.calls).collect())
    }

    /// The gas that a transaction needs.
    ///
    /// # Errors
    /// When it reverts or no node answers.
    pub async fn estimate_gas(&self, transaction: &TransactionRequest) -> Result<u64, NodeError> {
        self.ask(|node| async move { node.estimate_gas(transaction.clone()).await }).await
    }

    /// Whether a contract is at an address.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn has_code(&self, address: Address) -> Result<bool, NodeError> {
        Ok(!self.ask(|node| async move { node.get_code_at(address).await }).await?.is_empty())
    }

    /// An account's balance, in wei.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn balance(&self, address: Address) -> Result<U256, NodeError> {
        self.ask(|node| async move { node.get_balance(address).await }).await
    }

    /// What the next block asks for, by the last blocks. One call.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn market_fees(&self) -> Result<MarketFees, NodeError> {
        // A tip of nothing is refused by many nodes, whatever blocks with room to spare have taken.
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
        Ok(MarketFees { base: fee(next), tip: fee(median) })
    }

    /// The nonce that a sender's next transaction has: after those in blocks, or also after those that wait.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn next_nonce(&self, sender: Address, at: BlockNumberOrTag) -> Result<u64, NodeError> {
        self.ask(|node| async move { node.get_transaction_count(sender).block_id(at.into()).await }).await
    }

    /// The receipt of a transaction, once it is mined.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn receipt(&self, hash: B256) -> Result<Option<TransactionReceipt>, NodeError> {
        self.ask(|node| async move { node.get_transaction_receipt(hash).await }).await
    }

    /// What has become of a sender's nonce, given every transaction that we signed for it. The nonce is read before the
    /// receipts and at the same node, so that a nonce which is used without a receipt was used by somebody else.
    ///
    /// # Errors
    /// When no node answers all of it.
    pub async fn nonce_facts(
        &self,
        sender: Address,
        nonce: u64,
        hashes: &[B256],
        confirmations: u64,
    ) -> Result<NonceFacts, NodeError> {
        self.ask(|node| async move {
            let block = node.get_block_number().await?.saturating_sub(confirmations);
            let buried = node.get_transaction_count(sender).block_id(BlockId::number(block)).await?;
            let mut receipt = None;
            for hash in hashes {
                receipt = node.get_transaction_receipt(*hash).await?;
                if receipt.is_some() {
                    break;
                }
            }
            Ok(NonceFacts { receipt, is_used_for_good: buried > nonce })
        })
        .await
    }

    /// Hands a signed transaction to the first node that takes it. That a node knows it already is as good.
    ///
    /// # Errors
    /// When no node says so. It may have left all the same.
    pub async fn send(&self, signed: &[u8]) -> Result<(), SendError> {
        let mut may_have_left = false;
        let attempt = |node: DynProvider| async move {
            match node.send_raw_transaction(signed).await {
                Err(error) if NodeFault::of(&error) != NodeFault::AlreadyKnown => Err(error),
                _ => Ok(()),
            }
        };
        let outcome = self.ask_each(attempt, |fault| may_have_left |= !fault.is_about_transaction()).await;
        outcome.map_err(|source| SendError { fault: source.fault(), may_have_left, source })
    }

    async fn ask<T, Answer>(&self, question: impl Fn(DynProvider) -> Answer) -> Result<T, NodeError>
    where
        Answer: Future<Output = Result<T, RpcError<TransportErrorKind>>>,
    {
        self.ask_each(question, |_| ()).await
    }

    /// Asks the nodes in order, until one answers or says what every other would say too. `on_fault` hears of each error.
    async fn ask_each<T, Answer>(
        &self,
        question: impl Fn(DynProvider) -> Answer,
        mut on_fault: impl FnMut(NodeFault),
    ) -> Result<T, NodeError>
    where
        Answer: Future<Output = Result<T, RpcError<TransportErrorKind>>>,
    {
        let mut last = RpcError::local_usage_str("a chain without nodes");
        for (index, node) in self.providers.iter().enumerate() {
            match question(node.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    let error = without_url(error);
                    let fault = NodeFault::of(&error);
                    on_fault(fault);
                    if fault.is_about_transaction() {
                        return Err(NodeError::Rpc(error));
                    }
                    tracing::warn!(node = index, %error, "node failed");
                    last = error;
                }
            }
        }
        Err(NodeError::Rpc(last))
    }
}

/// The error without the node's URL, which may hold a secret and would end up in the log.
fn without_url(error: RpcError<TransportErrorKind>) -> RpcError<TransportErrorKind> {
    match error {
        RpcError::Transport(TransportErrorKind::Custom(error)) => match error.downcast::<reqwest::Error>() {
            Ok(error) => TransportErrorKind::custom(error.without_url()),
            Err(error) => RpcError::Transport(TransportErrorKind::Custom(error)),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry;

    #[tokio::test]
    async fn an_unreachable_node_s_url_stays_out_of_its_error() {
        let urls: NodeUrls = r#"{"1": ["http://127.0.0.1:1/secret-key"]}"#.parse().unwrap();
        let node = Node::new(&urls, ChainId(1)).unwrap();
        let error = node.newest_block().await.unwrap_err();
        assert_eq!(error.fault(), NodeFault::NoAnswer);
        let line = telemetry::chain(&error);
        assert!(!line.contains("secret-key"), "{line}");
    }
}
