//! `POST /moment/create-batch`: creates up to 50 moments in one collection and one transaction.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateMomentsRequest, MAX_MOMENTS_BYTES, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateMoments { service: TransactionService::from_env().await? }).await
}

struct CreateMoments {
    service: TransactionService,
}

impl Endpoint for CreateMoments {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let body: CreateMomentsRequest = request.json_of(MAX_MOMENTS_BYTES)?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Moments);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
