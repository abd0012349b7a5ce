//! `POST /moment/create-batch`: creates up to 50 moments in one collection and one transaction.

use shared::{
    api::publish::{CreateMomentsRequest, PublishingService},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateMoments>().await
}

struct CreateMoments(PublishingService);

impl Endpoint for CreateMoments {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(PublishingService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        self.0.publish::<CreateMomentsRequest>(request).await
    }
}
