//! `POST /collections`: makes a collection of the artist's. The body is `{account?, name, uri, splits?, chainId?}`, the
//! answer `{contractAddress, hash, chainId}`, or 202 with `{hash, chainId}` while it isn't mined.

#[cfg(test)]
mod description;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    publication::{Publication, found_collection},
    telemetry,
    writing::{Begun, Wording, Writers},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateCollection { writers: Writers::from_env().await? }).await
}

struct CreateCollection {
    writers: Writers,
}

impl Endpoint for CreateCollection {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let publication = Publication::parse_collection(request, &self.writers)?;
        let wording = Wording::Receipt(found_collection);
        let writing = match self.writers.begin(artist, publication.chain, request, wording).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let calls = publication.calls(&writing).await?;
        writing.send(calls).await
    }
}
