//! `POST /moment/create`: creates a moment in an existing or a new collection, or in the artist's own.

use shared::{
    api::publish::{CreateMomentRequest, PublishingService},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateMoment>().await
}

struct CreateMoment(PublishingService);

impl Endpoint for CreateMoment {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(PublishingService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        self.0.publish::<CreateMomentRequest>(request).await
    }
}
