//! `GET /chains`: what is served where, so that a client needs no list of its own.

use chains::list_chains::{ChainView, ListChainsResponse};
use shared::{
    chain::Chains,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListChains>().await
}

struct ListChains {
    chains: Vec<ChainView>,
}

impl Endpoint for ListChains {
    async fn from_env() -> Result<Self, StartError> {
        let chains = Chains::from_env()?;
        Ok(Self { chains: chains.iter().map(ChainView::new).collect() })
    }

    async fn handle(&self, _request: &Request) -> Result<Response, ApiError> {
        const SECONDS_TO_KEEP: u32 = 5 * 60;
        Ok(Response::json(&ListChainsResponse { chains: &self.chains })?.cacheable(SECONDS_TO_KEEP))
    }
}
