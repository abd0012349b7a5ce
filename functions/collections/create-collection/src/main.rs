//! `POST /collections`: creates a collection. 202 with the hash alone while its transaction isn't mined.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateCollectionRequest, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Creation,
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateCollection { service: TransactionService::from_env().await? }).await
}

struct CreateCollection {
    service: TransactionService,
}

impl Endpoint for CreateCollection {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.authenticate(request).await?;
        let body: CreateCollectionRequest = request.json()?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Collection);
        self.service
            .transact(request, artist, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
