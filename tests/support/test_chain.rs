use alloy::providers::{Provider, RootProvider};
use local::{
    chains::LocalChain,
    cloud::local_chains,
    contracts::{self, Artifacts},
    paths::Paths,
    workshop,
};
use shared::{chain::Chain, model::ChainId};

use crate::Error;

const CHAIN: ChainId = ChainId(8453);

/// A separate chain with the contracts deployed, whose blocks can be dropped.
pub struct TestChain {
    pub chain: Chain,
    pub node: RootProvider,
    pub rpc_url: String,
    _process: LocalChain,
}

impl TestChain {
    /// Starts a chain and deploys the contracts. `name` is the folder of its logs.
    pub async fn start(name: &str, reorg_depth: u64) -> Result<Self, Error> {
        Self::of(CHAIN, name, reorg_depth).await
    }

    /// The same with another id.
    pub async fn of(id: ChainId, name: &str, reorg_depth: u64) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let (_, chains) = local_chains(&[id.0])?;
        let chain = Chain { reorg_depth, ..chains.get(id)?.clone() };
        let logs = paths.workshop(name);
        let process = LocalChain::start(&paths, &logs, id).await?;
        let artifacts = Artifacts::compile(&paths).await?;
        contracts::deploy(&process.rpc_url, &chain, &artifacts).await?;
        let (rpc_url, node) = (process.rpc_url.clone(), RootProvider::connect(&process.rpc_url).await?);
        Ok(Self { chain, node, rpc_url, _process: process })
    }

    /// Replaces the newest blocks by empty ones.
    pub async fn reorganise(&self, depth: u64) -> Result<(), Error> {
        workshop::reorganise(&self.node, depth).await
    }

    /// Drops the newest blocks.
    pub async fn roll_back(&self, depth: u64) -> Result<(), Error> {
        workshop::roll_back(&self.node, depth).await
    }

    /// Mines enough empty blocks to make all earlier ones final.
    pub async fn finalise(&self) -> Result<(), Error> {
        Ok(self.node.raw_request("anvil_mine".into(), (self.chain.reorg_depth + 1,)).await?)
    }
}
