//! `GET /webhooks`: the artist's webhooks.

use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use webhooks::{WebhookService, WebhookView, list_webhooks::ListWebhooksResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListWebhooks>().await
}

struct ListWebhooks(WebhookService);

impl Endpoint for ListWebhooks {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(WebhookService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let webhooks =
            self.0.webhooks.list(artist).await?.into_iter().map(WebhookView::of).collect::<Result<_, _>>()?;
        Response::json(&ListWebhooksResponse { webhooks })
    }
}
