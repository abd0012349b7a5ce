//! `GET /webhooks/{id}`: one of the artist's webhooks.

use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use webhooks::{WebhookPath, WebhookService, WebhookView};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadWebhook>().await
}

struct ReadWebhook(WebhookService);

impl Endpoint for ReadWebhook {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(WebhookService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let WebhookPath { id } = request.path_parameters().read()?;
        Response::json(&WebhookView::of(self.0.webhook(artist, id).await?)?)
    }
}
