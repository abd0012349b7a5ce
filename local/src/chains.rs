//! The local chains: one anvil node each, which mines a block per transaction.

use std::{collections::BTreeMap, env, net::TcpListener};

use alloy::{
    primitives::{Address, U256, uint},
    providers::{RootProvider, ext::AnvilApi},
};
use serde::de::DeserializeOwned;
use shared::model::ChainId;
use tokio::process::Command;
use url::Url;

use crate::{Error, paths::Paths, process::Process};

/// Ids of the started chains; the demo content is on the first.
pub const CHAINS: [u64; 2] = [8453, 1];

/// Balance of a funded lane: 100 ether, in wei.
const LANE_BALANCE: U256 = uint!(100_000_000_000_000_000_000_U256);

/// How many recent blocks keep their state; also the deepest possible reorganisation.
const STATES: &str = "256";

/// What is chosen for the chains' nodes; by default each has a free port, and functions call it there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSettings {
    /// URLs that functions get for a chain in place of its node's own.
    pub rpc_urls: BTreeMap<ChainId, Vec<Url>>,
    /// Ports of nodes.
    pub ports: BTreeMap<ChainId, u16>,
}

impl NodeSettings {
    /// Reads `RPC_URLS` and `NODE_PORTS`.
    pub fn from_env() -> Result<Self, Error> {
        let value = |name: &str| env::var(name).unwrap_or_default();
        Self::parse(&value("RPC_URLS"), &value("NODE_PORTS"))
    }

    /// Parses `RPC_URLS`, such as `{"8453": ["http://127.0.0.1:9545"]}`, and `NODE_PORTS`, such as `{"8453": 8545}`;
    /// empty texts choose nothing.
    pub fn parse(rpc_urls: &str, ports: &str) -> Result<Self, Error> {
        let settings = Self {
            rpc_urls: by_chain("RPC_URLS", r#"{"8453": ["http://127.0.0.1:9545"]}"#, rpc_urls)?,
            ports: by_chain("NODE_PORTS", r#"{"8453": 8545}"#, ports)?,
        };
        for (chain, urls) in &settings.rpc_urls {
            if urls.is_empty() {
                return Err(format!("RPC_URLS: chain {chain} has no URL").into());
            }
            if let Some(url) = urls.iter().find(|url| !matches!(url.scheme(), "http" | "https")) {
                return Err(format!("RPC_URLS: {url} is not an HTTP URL").into());
            }
        }
        if let Some(chain) = settings.ports.iter().find_map(|(chain, port)| (*port == 0).then_some(chain)) {
            return Err(format!("NODE_PORTS: chain {chain} can't have port 0").into());
        }
        Ok(settings)
    }

    /// Takes the ports until their nodes start, so that nothing else gets them.
    pub(crate) fn reserve(&self) -> Result<BTreeMap<ChainId, TcpListener>, Error> {
        let reserve = |(chain, port): (&ChainId, &u16)| {
            let taken =
                |_| format!("NODE_PORTS: port {port} of chain {chain} is taken: stop what uses it, or give another");
            Ok((*chain, TcpListener::bind(("127.0.0.1", *port)).map_err(taken)?))
        };
        self.ports.iter().map(reserve).collect()
    }
}

fn by_chain<T: DeserializeOwned>(name: &str, example: &str, text: &str) -> Result<BTreeMap<ChainId, T>, Error> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    let values: BTreeMap<u64, T> =
        serde_json::from_str(text).map_err(|error| format!("{name}: {error}: give something like {example}"))?;
    if let Some(unknown) = values.keys().find(|chain| !CHAINS.contains(chain)) {
        let known = CHAINS.map(|chain| chain.to_string()).join(" and ");
        return Err(format!("{name}: there is no chain {unknown}: the chains are {known}").into());
    }
    Ok(values.into_iter().map(|(chain, value)| (ChainId(chain), value)).collect())
}

/// A running chain; dropping it stops its node.
pub struct LocalChain {
    /// Chain id.
    pub id: ChainId,
    /// URL of its node.
    pub rpc_url: String,
    _node: Process,
}

impl LocalChain {
    /// Starts an empty chain, on a free port.
    pub async fn start(paths: &Paths, logs: &std::path::Path, id: ChainId) -> Result<Self, Error> {
        Self::start_at(paths, logs, id, 0).await
    }

    /// Starts an empty chain on `port` (0 picks a free one).
    pub async fn start_at(paths: &Paths, logs: &std::path::Path, id: ChainId, port: u16) -> Result<Self, Error> {
        let mut command = Command::new(paths.anvil());
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--chain-id", &id.to_string()]);
        // The published build of the creator contracts is unoptimised and larger than public chains allow.
        command.arg("--disable-code-size-limit");
        // Otherwise anvil writes every older state to the home folder (gigabytes) and leaves it there when killed.
        command.args(["--prune-history", STATES]);
        let (node, address) = Process::listening(&format!("anvil-{id}"), logs, &mut command).await?;
        Ok(Self { id, rpc_url: format!("http://{address}"), _node: node })
    }

    /// Sets each lane's balance to 100 ether.
    pub async fn fund(&self, lanes: impl Iterator<Item = Address>) -> Result<(), Error> {
        let node: RootProvider = RootProvider::connect(&self.rpc_url).await?;
        for lane in lanes {
            node.anvil_set_balance(lane, LANE_BALANCE).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::free_port;

    #[test]
    fn urls_and_ports_are_read_by_chain() -> Result<(), Error> {
        let settings =
            NodeSettings::parse(r#"{"8453": ["http://127.0.0.1:9545", "https://a.example/x"]}"#, r#"{"1": 8546}"#)?;
        assert_eq!(settings.rpc_urls[&ChainId(8453)].len(), 2);
        assert_eq!(settings.ports, [(ChainId(1), 8546)].into());
        assert_eq!(NodeSettings::parse("", "")?, NodeSettings::default());
        Ok(())
    }

    #[test]
    fn wrong_input_is_named() {
        for (rpc_urls, ports, words) in [
            ("8453=http://a", "", ["RPC_URLS", "give something like"]),
            (r#"{"8453": "http://a"}"#, "", ["RPC_URLS", "give something like"]),
            (r#"{"8453": ["nowhere"]}"#, "", ["RPC_URLS", "give something like"]),
            (r#"{"8453": ["ftp://a"]}"#, "", ["RPC_URLS", "is not an HTTP URL"]),
            (r#"{"8453": []}"#, "", ["RPC_URLS", "chain 8453 has no URL"]),
            (r#"{"7": ["http://a"]}"#, "", ["RPC_URLS", "there is no chain 7: the chains are 8453 and 1"]),
            ("", r#"{"7": 8545}"#, ["NODE_PORTS", "there is no chain 7"]),
            ("", r#"{"8453": 70000}"#, ["NODE_PORTS", "give something like"]),
            ("", r#"{"8453": 0}"#, ["NODE_PORTS", "port 0"]),
        ] {
            let error = NodeSettings::parse(rpc_urls, ports).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }

    #[test]
    fn ports_that_are_taken_are_named() -> Result<(), Error> {
        let taken = TcpListener::bind(("127.0.0.1", 0))?;
        let port = taken.local_addr()?.port();
        let error = NodeSettings::parse("", &format!(r#"{{"8453": {port}}}"#))?.reserve().unwrap_err();
        assert!(error.to_string().contains(&format!("NODE_PORTS: port {port} of chain 8453 is taken")), "{error}");
        let free = free_port()?;
        let error = NodeSettings::parse("", &format!(r#"{{"8453": {free}, "1": {free}}}"#))?.reserve().unwrap_err();
        assert!(error.to_string().contains("is taken"), "{error}");
        Ok(())
    }
}
