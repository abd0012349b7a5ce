//! `POST /moment/create/writing`: stores a text with its metadata, and creates a moment of it.

use shared::{
    api::publish::{CreateWritingRequest, PublishingService},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateWriting>().await
}

struct CreateWriting(PublishingService);

impl Endpoint for CreateWriting {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(PublishingService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        self.0.publish::<CreateWritingRequest>(request).await
    }
}
