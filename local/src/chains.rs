//! The local chains: one anvil for each, mining a block for every transaction.

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

/// What a lane pays transactions with: 100 ether, in wei.
const LANE_BALANCE: U256 = uint!(100_000_000_000_000_000_000_U256);

/// Blocks whose state can be asked for, and that a reorganisation may undo.
const STATES: &str = "256";

/// A running chain.
pub struct LocalChain {
    /// Its id.
    pub id: ChainId,
    /// Its node.
    pub rpc_url: String,
    /// Keeps the node running.
    _node: Process,
}

impl LocalChain {
    /// Starts an empty chain.
    ///
    /// # Errors
    /// When anvil can't be started.
    pub async fn start(paths: &Paths, logs: &std::path::Path, id: ChainId) -> Result<Self, Error> {
        let port = free_port()?;
        let mut command = Command::new(paths.anvil());
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--chain-id", &id.to_string()]);
        // The creator contracts' published build isn't optimised and passes the limit of a public chain.
        command.arg("--disable-code-size-limit");
        // Otherwise it writes every older state to the home folder, gigabytes of them, and leaves them there when killed.
        command.args(["--prune-history", STATES]);
        let rpc_url = format!("http://127.0.0.1:{port}");
        let mut node = Process::start(&format!("anvil-{id}"), logs, &mut command)?;
        node.ready(async || listens(port).await).await?;
        Ok(Self { id, rpc_url, _node: node })
    }

    /// Gives lanes something to pay transactions with.
    ///
    /// # Errors
    /// When the node refuses.
    pub async fn fund(&self, lanes: impl Iterator<Item = Address>) -> Result<(), Error> {
        let node: RootProvider = RootProvider::connect(&self.rpc_url).await?;
        for lane in lanes {
            node.anvil_set_balance(lane, LANE_BALANCE).await?;
        }
        Ok(())
    }
}
