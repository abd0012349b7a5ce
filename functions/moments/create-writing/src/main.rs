//! `POST /moment/create/writing`: stores a text with its metadata, and creates a moment of it.

#[cfg(test)]
mod description;

use shared::{
    api::{
        media::{MAX_METADATA_BYTES, MediaLibrary},
        publish::{CreateWritingRequest, Publication},
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
    serve(CreateWriting { service: TransactionService::from_env().await?, library }).await
}

struct CreateWriting {
    service: TransactionService,
    library: MediaLibrary,
}

impl Endpoint for CreateWriting {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let body: CreateWritingRequest = request.json_of(MAX_METADATA_BYTES)?.read_for(&self.service)?;
        let publication = Publication::of_writing(body, &self.library, request, caller.artist).await?;
        self.service
            .transact(request, caller, publication.chain, Creation::Moment, async |session| {
                publication.plan(session).await
            })
            .await
    }
}
