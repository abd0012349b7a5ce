//! Where the nodes of each chain are.

use std::collections::BTreeMap;

use url::Url;

use crate::{
    config::{self, ConfigError},
    model::ChainId,
};

/// URLs of each chain's nodes.
#[derive(Clone)]
pub struct NodeUrls(BTreeMap<ChainId, Vec<Url>>);

impl NodeUrls {
    /// Reads `RPC_URLS`: a JSON object from chain id to a list of URLs, the preferred one first.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed(config::variables::RPC_URLS)
    }

    /// Whether the chain has a node.
    pub fn names(&self, chain: ChainId) -> bool {
        self.of(chain).is_some()
    }

    pub(super) fn of(&self, chain: ChainId) -> Option<&[Url]> {
        self.0.get(&chain).map(Vec::as_slice).filter(|urls| !urls.is_empty())
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
