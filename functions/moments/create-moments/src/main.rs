//! `POST /moment/create-batch`: creates up to 50 moments in one collection and one transaction. 202 with the hash alone
//! while it isn't mined.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateMomentsRequest, MAX_MOMENTS_BYTES, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Creation,
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
        let artist = self.service.authenticate(request).await?;
        let body: CreateMomentsRequest = request.json_of(MAX_MOMENTS_BYTES)?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Moments);
        self.service
            .transact(request, artist, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
