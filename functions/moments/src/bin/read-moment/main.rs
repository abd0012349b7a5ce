//! `GET /moment`: one moment.

use moments::read_moment::ReadMomentQuery;
use shared::{
    api::{
        error::{no_moment, withheld},
        read::Reader,
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::MomentRef,
    store::{artist::ArtistTable, chain::ChainTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadMoment>().await
}

struct ReadMoment {
    reader: Reader,
}

impl Endpoint for ReadMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self { reader: Reader::from_env(ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?)? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadMomentQuery { collection_address: collection, token_id: token, chain_id: chain } =
            request.query().read_for(&self.reader)?;
        let place = MomentRef { chain, collection, token };
        let moment = self.reader.moment(&place).await?.ok_or_else(|| no_moment(&place))?;
        if moment.is_withheld {
            return Err(withheld());
        }
        Response::public(&moment)
    }
}
