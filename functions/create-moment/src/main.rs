//! `POST /moment/create`: publishes a moment, in a collection that is there or a new one. The body is `{contract, token,
//! account?, splits?, chainId?}`, the answer `{contractAddress, tokenId, hash, chainId}`, or 202 with `{hash, chainId}`
//! while it isn't mined.

#[cfg(test)]
mod description;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    publication::{Publication, found_moment},
    telemetry,
    writing::{Begun, Wording, Writers},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateMoment { writers: Writers::from_env().await? }).await
}

struct CreateMoment {
    writers: Writers,
}

impl Endpoint for CreateMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let publication = Publication::parse_moment(request, &self.writers)?;
        let wording = Wording::Receipt(found_moment);
        let writing = match self.writers.begin(artist, publication.chain, request, wording).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let calls = publication.calls(&writing).await?;
        writing.send(calls).await
    }
}
