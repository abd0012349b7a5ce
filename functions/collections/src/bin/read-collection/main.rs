//! `GET /collections/{network}/{contract}`: one collection.

use shared::{
    api::{
        error::{no_collection, withheld},
        read::Reader,
        request::CollectionPath,
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{artist::ArtistTable, chain::ChainTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadCollection>().await
}

struct ReadCollection {
    reader: Reader,
}

impl Endpoint for ReadCollection {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self { reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let path: CollectionPath = request.path_parameters().read_for(&self.reader)?;
        let (chain, contract) = path.place();
        let collection = self.reader.collection(chain, contract).await?.ok_or_else(|| no_collection(contract))?;
        if collection.is_withheld {
            return Err(withheld());
        }
        Response::public(&collection)
    }
}
