//! `GET /collections/{network}/{contract}`: one collection.

#[cfg(test)]
mod description;

use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, CaipContract, CaipNetwork, ChainId},
    reading::Reader,
    store::{Moments, Table},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ReadCollection::from_env().await?).await
}

struct ReadCollection {
    moments: Moments,
    reader: Reader,
}

impl ReadCollection {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = Table::chain(&aws)?;
        Ok(Self { moments: Moments::new(chain.clone()), reader: Reader::from_env(chain, Table::artists(&aws)?)? })
    }
}

impl Endpoint for ReadCollection {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let (chain, address) = parse(request)?;
        let not_found = || ApiError::not_found(format!("There is no collection {address} on chain {chain}"));
        let collection = self.moments.collection(chain, address).await?.ok_or_else(not_found)?;
        let shown = self.reader.collections(vec![collection]).await?.pop().ok_or_else(not_found)?;
        Response::public(&shown)
    }
}

/// Reads `network` (`eip155:<chain id>`) and `contract` (`erc1155:<address>`).
fn parse(request: &Request) -> Result<(ChainId, Address), ApiError> {
    let mut path = request.path_parameters();
    let network = path.required::<CaipNetwork>("network");
    let contract = path.required::<CaipContract>("contract");
    path.finish(|| Some((network?.0, contract?.0)))
}
