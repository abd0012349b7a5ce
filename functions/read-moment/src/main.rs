//! `GET /moment`: one moment.

#[cfg(test)]
mod description;

use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, MomentRef, TokenId},
    reading::Reader,
    store::{Moments, Table},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ReadMoment::from_env().await?).await
}

struct ReadMoment {
    moments: Moments,
    reader: Reader,
}

impl ReadMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = Table::chain(&aws)?;
        Ok(Self { moments: Moments::new(chain.clone()), reader: Reader::from_env(chain, Table::artists(&aws)?)? })
    }

    /// Reads `collectionAddress`, `tokenId` and `chainId` (8453 unless given).
    fn parse(&self, request: &Request) -> Result<MomentRef, ApiError> {
        let mut fields = request.query();
        let collection = fields.required::<Address>("collectionAddress");
        let token = fields.required::<TokenId>("tokenId");
        let chain = self.reader.chain(&mut fields, "chainId");
        fields.finish(|| Some(MomentRef { chain: chain?, collection: collection?, token: token? }))
    }
}

impl Endpoint for ReadMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let place = self.parse(request)?;
        let MomentRef { chain, collection, token } = place;
        let not_found =
            || ApiError::not_found(format!("There is no moment {token} in collection {collection} on chain {chain}"));
        let moment = self.moments.moment(&place).await?.ok_or_else(not_found)?;
        let shown = self.reader.moments(&[moment]).await?.pop().ok_or_else(not_found)?;
        Response::public(&shown)
    }
}
