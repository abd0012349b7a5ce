//! The local chains: one anvil node each, which mines a block per transaction.

use alloy::{
    primitives::{Address, U256, uint},
    providers::{RootProvider, ext::AnvilApi},
};
use shared::model::ChainId;
use tokio::process::Command;

use crate::{
    Error,
    paths::Paths,
    process::{Process, free_port, listens},
};

/// Balance of a funded lane: 100 ether, in wei.
const LANE_BALANCE: U256 = uint!(100_000_000_000_000_000_000_U256);

/// How many recent blocks keep their state; also the deepest possible reorganisation.
const STATES: &str = "256";

/// A running chain; dropping it stops its node.
pub struct LocalChain {
    /// Chain id.
    pub id: ChainId,
    /// URL of its node.
    pub rpc_url: String,
    _node: Process,
}

impl LocalChain {
    /// Starts an empty chain.
    pub async fn start(paths: &Paths, logs: &std::path::Path, id: ChainId) -> Result<Self, Error> {
        let port = free_port()?;
        let mut command = Command::new(paths.anvil());
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--chain-id", &id.to_string()]);
        // The published build of the creator contracts is unoptimised and larger than public chains allow.
        command.arg("--disable-code-size-limit");
        // Otherwise anvil writes every older state to the home folder (gigabytes) and leaves it there when killed.
        command.args(["--prune-history", STATES]);
        let rpc_url = format!("http://127.0.0.1:{port}");
        let mut node = Process::start(&format!("anvil-{id}"), logs, &mut command)?;
        node.ready(async || listens(port).await).await?;
        Ok(Self { id, rpc_url, _node: node })
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
