//! Reading a chain through its nodes. Several URLs a chain are tried in order, each with a time-out; never two at once.

use std::{collections::BTreeMap, time::Duration};

use alloy::{
    eips::BlockNumberOrTag,
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::{Filter, Log},
    transports::{RpcError, TransportErrorKind, http::reqwest},
};
use url::Url;

use crate::{
    config::{self, ConfigError},
    model::ChainId,
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
    /// Longest wait for one node's answer.
    const TIMEOUT: Duration = Duration::from_secs(10);

    /// The nodes of `chain`. Opens no connection.
    ///
    /// # Errors
    /// When there are none, or the HTTP client can't be made.
    pub fn new(urls: &NodeUrls, chain: ChainId) -> Result<Self, NodeError> {
        let urls = urls.0.get(&chain).filter(|urls| !urls.is_empty()).ok_or(NodeError::None(chain))?;
        let client = reqwest::Client::builder().timeout(Self::TIMEOUT).build()?;
        let connect = |url: &Url| {
            let builder = ProviderBuilder::new().disable_recommended_fillers();
            builder.connect_reqwest(client.clone(), url.clone()).erased()
        };
        Ok(Self { providers: urls.iter().map(connect).collect() })
    }

    /// Number of the newest block.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn newest_block(&self) -> Result<u64, NodeError> {
        self.ask(async |node| node.get_block_number().await).await
    }

    /// Logs that match, in the order of the chain.
    ///
    /// # Errors
    /// When no node answers, which may mean that the filter covers too much.
    pub async fn logs(&self, filter: &Filter) -> Result<Vec<Log>, NodeError> {
        self.ask(async |node| node.get_logs(filter).await).await
    }

    /// Unix time of a block, in seconds.
    ///
    /// # Errors
    /// When no node answers or has the block.
    pub async fn block_time(&self, number: u64) -> Result<u64, NodeError> {
        let tag = BlockNumberOrTag::Number(number);
        let block = self.ask(async |node| node.get_block_by_number(tag).await).await?;
        block.map(|block| block.header.timestamp).ok_or(NodeError::MissingBlock(number))
    }

    async fn ask<T>(
        &self,
        question: impl AsyncFn(&DynProvider) -> Result<T, RpcError<TransportErrorKind>>,
    ) -> Result<T, NodeError> {
        let mut last = RpcError::local_usage_str("a chain without nodes");
        for (index, node) in self.providers.iter().enumerate() {
            match question(node).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    tracing::warn!(node = index, %error, "node failed");
                    last = error;
                }
            }
        }
        Err(NodeError::Rpc(last))
    }
}
