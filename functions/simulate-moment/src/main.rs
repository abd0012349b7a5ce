//! `POST /moment/create/simulate`: what `POST /moment/create` would come to, with nothing sent and nothing kept.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    publication::Publication,
    telemetry,
    writing::Writers,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(SimulateMoment { writers: Writers::from_env().await? }).await
}

struct SimulateMoment {
    writers: Writers,
}

#[derive(Serialize, ToSchema)]
struct SimulateMomentResponse {
    /// It would work as things are now.
    success: bool,
    /// The gas that its transaction may use.
    gas: u64,
}

impl Endpoint for SimulateMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let publication = Publication::parse_moment(request, &self.writers)?;
        let writing = self.writers.rehearse(artist, publication.chain).await?;
        let calls = publication.calls(&writing).await?;
        Response::json(&SimulateMomentResponse { success: true, gas: writing.estimate(calls).await? })
    }
}
