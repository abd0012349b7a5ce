//! `POST /moment/create-batch`: publishes up to 50 moments of one collection in one transaction. The body is `{contract,
//! tokens, account?, splits?, chainId?}`, the answer `{contractAddress, tokenIds, hash, chainId}`, or 202 with `{hash,
//! chainId}` while it isn't mined.

#[cfg(test)]
mod description;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    publication::{Publication, found_moments},
    telemetry,
    writing::{Begun, Wording, Writers},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateMoments { writers: Writers::from_env().await? }).await
}

struct CreateMoments {
    writers: Writers,
}

impl Endpoint for CreateMoments {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let publication = Publication::parse_moments(request, &self.writers)?;
        let wording = Wording::Receipt(found_moments);
        let writing = match self.writers.begin(artist, publication.chain, request, wording).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let calls = publication.calls(&writing).await?;
        writing.send(calls).await
    }
}
