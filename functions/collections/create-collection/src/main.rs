//! `POST /collections`: creates a collection.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateCollectionRequest, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
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
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let body: CreateCollectionRequest = request.json()?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Collection);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
