//! `GET /chains`: what is served where, so that a client needs no list of its own; and `GET /health`: how far it is read.

use chains::{
    list_chains::{ChainView, ListChainsResponse},
    read_health::{HealthStatus, IndexedChain, ReadHealthResponse},
};
use shared::{
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ChainId,
    store::{StoreError, chain::ChainTable, engine::Progress},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListChains>().await
}

struct ListChains {
    chains: Vec<ChainView>,
    default_chain: ChainId,
    table: ChainTable,
    version: String,
}

impl Endpoint for ListChains {
    async fn from_env() -> Result<Self, StartError> {
        let chains = Chains::from_env()?;
        Ok(Self {
            chains: chains.iter().map(ChainView::new).collect(),
            default_chain: config::parsed(config::variables::DEFAULT_CHAIN)?,
            table: ChainTable::from_env(&config::aws().await)?.eventually_consistent(),
            version: config::required(config::variables::VERSION)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        const SECONDS_TO_KEEP: u32 = 5 * 60;
        if request.route() == "GET /health" {
            return self.health().await;
        }
        let listed = ListChainsResponse { chains: &self.chains, default_chain_id: self.default_chain };
        Ok(Response::json(&listed)?.cacheable(SECONDS_TO_KEEP))
    }
}

impl ListChains {
    /// One read for each chain.
    async fn health(&self) -> Result<Response, ApiError> {
        let read = |chain: &ChainView| {
            let chain_id = chain.chain_id;
            async move {
                let next = Progress::of(&self.table, chain_id).await?.next_block;
                Ok::<_, StoreError>(IndexedChain { chain_id, indexed_block: next.and_then(|next| next.checked_sub(1)) })
            }
        };
        let chains = futures::future::try_join_all(self.chains.iter().map(read)).await?;
        Response::json(&ReadHealthResponse { status: HealthStatus::Ok, version: &self.version, chains })
    }
}
