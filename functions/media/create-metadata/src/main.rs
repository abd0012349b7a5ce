//! `POST /metadata`: stores a metadata document.

#[cfg(test)]
mod description;

use shared::{
    api::media::{MAX_METADATA_BYTES, MediaLibrary, MetadataRequest},
    auth::caller::CallerAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Scope,
    store::Table,
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let callers = CallerAuthenticator::from_env(Table::secrets(&aws)?)?;
    serve(CreateMetadata { callers, library: MediaLibrary::from_env(&aws, Table::artists(&aws)?)? }).await
}

struct CreateMetadata {
    callers: CallerAuthenticator,
    library: MediaLibrary,
}

impl Endpoint for CreateMetadata {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.callers.authenticate_for(request, Scope::Publish, clock::now()?).await?.artist;
        let metadata: MetadataRequest = request.json_of(MAX_METADATA_BYTES)?.read()?;
        Response::json(&self.library.keep_metadata(request, artist, metadata).await?)
    }
}
