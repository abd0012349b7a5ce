//! The chains that this function serves, each with its nodes.

use aws_config::SdkConfig;

use super::{
    chains::{Chain, Chains},
    node::{Node, NodeError, NodeUrls},
};
use crate::{
    config::StartError,
    http::AllowedChains,
    model::{ChainId, Invalid},
};

/// What a chain is that is only read.
const WITHOUT_NODES: Invalid = Invalid("is a chain that this service has no nodes of");

/// The configured chains, and the nodes of those that have some.
pub struct ServedChains {
    configured: Chains,
    served: Vec<(Chain, Node)>,
}

impl ServedChains {
    /// Reads `CHAINS` and `RPC_URLS`.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        Ok(Self::of(Chains::from_env()?, &NodeUrls::from_env(aws).await?)?)
    }

    fn of(configured: Chains, urls: &NodeUrls) -> Result<Self, NodeError> {
        let with_node = |chain: &Chain| Ok((chain.clone(), Node::for_requests(urls, chain.id)?));
        let served = configured.iter().filter(|chain| urls.names(chain.id)).map(with_node);
        let served = served.collect::<Result<_, NodeError>>()?;
        Ok(Self { configured, served })
    }

    /// The chain and its nodes. Fails for a chain that isn't configured, or has no nodes.
    pub fn get(&self, id: ChainId) -> Result<&(Chain, Node), Invalid> {
        let chain = self.configured.get(id)?;
        self.served.iter().find(|(served, _)| served.id == chain.id).ok_or(WITHOUT_NODES)
    }
}

impl AllowedChains for ServedChains {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.get(chain).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn chain_without_nodes_is_refused_in_other_words_than_an_unknown_one() {
        let urls = r#"{"1": ["http://127.0.0.1:1"], "8453": []}"#.parse().unwrap();
        let configured = r#"[{"id": 1}, {"id": 10}, {"id": 8453}]"#.parse().unwrap();
        let chains = ServedChains::of(configured, &urls).unwrap();
        assert_eq!(chains.check(ChainId(1)), Ok(()));
        assert_eq!([10, 8453].map(|id| chains.check(ChainId(id))), [Err(WITHOUT_NODES), Err(WITHOUT_NODES)]);
        assert!(chains.check(ChainId(137)).is_err_and(|refused| refused != WITHOUT_NODES));
    }
}
