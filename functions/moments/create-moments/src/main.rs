//! `POST /moment/create-batch`: creates up to 50 moments in one collection and one transaction.

#[cfg(test)]
mod description;

use shared::{
    api::{
        media::MediaLibrary,
        publish::{CreateMomentsRequest, MAX_MOMENTS_BYTES, Publication, keep_metadata},
        transact::TransactionService,
    },
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
    store::Table,
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let library = MediaLibrary::from_env(&aws, Table::artists(&aws)?)?;
    serve(CreateMoments { service: TransactionService::from_env().await?, library }).await
}

struct CreateMoments {
    service: TransactionService,
    library: MediaLibrary,
}

impl Endpoint for CreateMoments {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let mut body: CreateMomentsRequest = request.json_of(MAX_MOMENTS_BYTES)?.read_for(&self.service)?;
        keep_metadata(&mut body.tokens, &self.library, request, caller.artist).await?;
        let (publication, creation) = (Publication::from(body), Creation::Moments);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
