//! `GET /moment`: one moment.

#[cfg(test)]
mod description;

use shared::{
    api::read::Reader,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, ChainId, MomentRef, TokenId},
    store::{artist::ArtistTable, chain::ChainTable},
};
use utoipa::IntoParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadMoment>().await
}

struct ReadMoment {
    reader: Reader,
}

/// The moment.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ReadMomentQuery {
    /// The moment's collection.
    collection_address: Address,
    /// The moment's token.
    token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    chain_id: ChainId,
}

impl Endpoint for ReadMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self { reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadMomentQuery { collection_address: collection, token_id: token, chain_id: chain } =
            request.query().read_for(&self.reader)?;
        let moment = self.reader.moment(&MomentRef { chain, collection, token }).await?;
        Response::public(&moment.ok_or_else(|| {
            ApiError::not_found(format!("There is no moment {token} in collection {collection} on chain {chain}"))
        })?)
    }
}
