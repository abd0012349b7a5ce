//! Where the nodes of each chain are.

use std::collections::BTreeMap;

use aws_config::SdkConfig;
use tokio::sync::OnceCell;
use url::Url;

use crate::{
    config::{self, ConfigError, StartError},
    model::ChainId,
    vault::Vault,
};

/// How the ARN of a secret begins.
const ARN: &str = "arn:";

/// They are read once: parts of a function ask for them separately, and a secret is far away.
static READ: OnceCell<NodeUrls> = OnceCell::const_new();

/// URLs of each chain's nodes.
#[derive(Clone)]
pub struct NodeUrls(BTreeMap<ChainId, Vec<Url>>);

impl NodeUrls {
    /// Reads `RPC_URLS`: a JSON object from chain id to a list of URLs, the preferred one first; or the ARN of the secret
    /// that has this object. At most one call.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        let read = async {
            let variable = config::variables::RPC_URLS;
            let given = config::required(variable)?;
            let json = if given.starts_with(ARN) { Vault::new(aws).text(&given).await? } else { given };
            // Without the error's own words: they repeat the text, which may have credentials.
            let invalid = |error: serde_json::Error| {
                let place = format!("line {}, column {}", error.line(), error.column());
                ConfigError::new(variable, format!("isn't a JSON object of lists of URLs ({place})"))
            };
            Ok::<_, StartError>(json.parse::<Self>().map_err(invalid)?)
        };
        READ.get_or_try_init(|| read).await.cloned()
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
