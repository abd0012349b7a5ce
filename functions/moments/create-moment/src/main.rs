//! `POST /moment/create`: creates a moment in an existing or a new collection. 202 with the hash alone while its
//! transaction isn't mined.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateMomentRequest, Publication},
        transact::TransactionService,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Creation,
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
        let artist = self.service.authenticate(request).await?;
        let body: CreateMomentRequest = request.json()?.read_for(&self.service)?;
        let (publication, creation) = (Publication::from(body), Creation::Moment);
        self.service
            .transact(request, artist, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
