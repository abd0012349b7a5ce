//! `POST /collections`: creates a collection.

use shared::{
    api::{
        publish::{CreateCollectionRequest, Publication},
        transact::TransactionService,
    },
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Creation, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateCollection>().await
}

struct CreateCollection {
    service: TransactionService,
}

impl Endpoint for CreateCollection {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let body: CreateCollectionRequest = request.json()?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Collection);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
