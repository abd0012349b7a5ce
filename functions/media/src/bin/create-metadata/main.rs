//! `POST /metadata`: stores a metadata document.

use shared::{
    api::media::{MediaService, MetadataRequest},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateMetadata>().await
}

struct CreateMetadata(MediaService);

impl Endpoint for CreateMetadata {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(MediaService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.authenticate(request).await?;
        let metadata: MetadataRequest = request.large_json()?.read()?;
        Response::json(&self.0.library.keep_metadata(request, artist, metadata).await?)
    }
}
