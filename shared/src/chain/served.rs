//! The chains that this function serves, each with its nodes.

use aws_config::SdkConfig;

use super::{
    chains::{Chain, Chains, NOT_CONFIGURED},
    node::{Node, NodeError, NodeUrls},
};
use crate::{
    config::StartError,
    http::AllowedChains,
    model::{ChainId, Invalid},
};

/// The configured chains that have nodes.
pub struct ServedChains(Vec<(Chain, Node)>);

impl ServedChains {
    /// Reads `CHAINS` and `RPC_URLS`.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        let (urls, chains) = (NodeUrls::from_env(aws).await?, Chains::from_env()?);
        let with_node = |chain: &Chain| Ok((chain.clone(), Node::for_requests(&urls, chain.id)?));
        let chains = chains.iter().filter(|chain| urls.names(chain.id)).map(with_node);
        Ok(Self(chains.collect::<Result<_, NodeError>>()?))
    }

    /// The chain and its nodes.
    pub fn get(&self, id: ChainId) -> Result<&(Chain, Node), Invalid> {
        let chain = self.0.iter().find(|(chain, _)| chain.id == id);
        chain.ok_or(NOT_CONFIGURED)
    }
}

impl AllowedChains for ServedChains {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.get(chain).map(drop)
    }
}
