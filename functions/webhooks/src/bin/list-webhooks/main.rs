//! `GET /webhooks`: the artist's webhooks.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::webhook::{WebhookService, WebhookView},
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListWebhooks>().await
}

struct ListWebhooks(WebhookService);

#[derive(Serialize, ToSchema)]
struct ListWebhooksResponse {
    /// The oldest first.
    webhooks: Vec<WebhookView>,
}

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
