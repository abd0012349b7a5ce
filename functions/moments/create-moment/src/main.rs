//! `POST /moment/create`: creates a moment in an existing or a new collection.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateMomentRequest, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateMoment { service: TransactionService::from_env().await? }).await
}

struct CreateMoment {
    service: TransactionService,
}

impl Endpoint for CreateMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let body: CreateMomentRequest = request.json()?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Moment);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
