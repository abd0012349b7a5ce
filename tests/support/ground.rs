use alloy::providers::{Provider, RootProvider};
use local::{
    chains::LocalChain,
    cloud::local_chains,
    contracts::{self, Artifacts},
    paths::Paths,
};
use shared::{chain::Chain, model::ChainId};

use crate::Error;

const CHAIN: ChainId = ChainId(8453);

/// A chain of one's own with the contracts on it, whose blocks can be dropped.
pub struct Ground {
    pub chain: Chain,
    pub node: RootProvider,
    pub rpc_url: String,
    _process: LocalChain,
}

impl Ground {
    /// A chain on which nothing happened but the contracts' deployment. `name` is the folder of its logs.
    pub async fn start(name: &str, reorg_depth: u64) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let (_, chains) = local_chains(&[CHAIN.0])?;
        let chain = Chain { reorg_depth, ..chains.get(CHAIN)?.clone() };
        let logs = paths.local("workshops").join(name);
        let process = LocalChain::start(&paths, &logs, CHAIN).await?;
        let artifacts = Artifacts::compile(&paths).await?;
        contracts::deploy(&process.rpc_url, &chain, &artifacts).await?;
        let (rpc_url, node) = (process.rpc_url.clone(), RootProvider::connect(&process.rpc_url).await?);
        Ok(Self { chain, node, rpc_url, _process: process })
    }

    /// Drops the newest blocks and puts empty ones in their place.
    pub async fn reorganise(&self, depth: u64) -> Result<(), Error> {
        let nothing: [(); 0] = [];
        Ok(self.node.raw_request("anvil_reorg".into(), (depth, nothing)).await?)
    }

    /// Drops the newest blocks.
    pub async fn roll_back(&self, depth: u64) -> Result<(), Error> {
        Ok(self.node.raw_request("anvil_rollback".into(), (depth,)).await?)
    }

    /// Adds empty blocks, so that whatever was before can't be dropped any more.
    pub async fn finalise(&self) -> Result<(), Error> {
        Ok(self.node.raw_request("anvil_mine".into(), (self.chain.reorg_depth + 1,)).await?)
    }
}
