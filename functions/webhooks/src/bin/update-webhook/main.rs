//! `PATCH /webhooks/{id}`: changes a webhook, or switches it off and on.

use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    public_web::PrivateReceivers,
};
use webhooks::{
    WebhookPath, WebhookService, WebhookView, no_webhook, require_public, update_webhook::UpdateWebhookRequest,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateWebhook>().await
}

struct UpdateWebhook {
    service: WebhookService,
    receivers: PrivateReceivers,
}

impl Endpoint for UpdateWebhook {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: WebhookService::from_env().await?, receivers: PrivateReceivers::from_env()? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.artist(request).await?;
        let WebhookPath { id } = request.path_parameters().read()?;
        let change: UpdateWebhookRequest = request.json()?.read()?;
        if change.is_empty() {
            return Err(ApiError::bad_request("Give at least one of url, types, description and active"));
        }
        if let Some(url) = &change.url {
            require_public(&self.receivers, url)?;
        }
        let changed = self.service.webhooks.change(artist, id, |webhook| change.apply(webhook)).await?;
        let webhook = changed.ok_or_else(|| no_webhook(id))?;
        if webhook.is_active() && (change.active.is_some() || change.url.is_some()) {
            self.service.queue.ask(artist, id).await?;
        }
        Response::json(&WebhookView::of(webhook)?)
    }
}
