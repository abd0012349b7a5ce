//! `POST /webhooks/{id}/rotate`: replaces a webhook's secret and shows the new one, this once.

use shared::{
    api::activity::ActivityLog,
    auth::webhook_secret::WebhookSecrets,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::artist::Webhook,
};
use webhooks::{WebhookPath, WebhookService, WebhookView, no_webhook, rotate_webhook::RotateWebhookResponse};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RotateWebhook>().await
}

struct RotateWebhook {
    service: WebhookService,
    secrets: WebhookSecrets,
    activity: ActivityLog,
}

impl Endpoint for RotateWebhook {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: WebhookService::from_env().await?,
            secrets: WebhookSecrets::from_env(&aws)?,
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.artist(request).await?;
        let WebhookPath { id } = request.path_parameters().read()?;
        let now = clock::now()?.as_secs();
        let rotation = |webhook: &mut Webhook| webhook.rotate(self.secrets.key(), now);
        let webhook = self.service.webhooks.change(artist, id, rotation).await?.ok_or_else(|| no_webhook(id))?;
        let secret = self.secrets.newest(&webhook).await?.reveal();
        self.activity.note(request, artist, ActivityKind::WebhookRotated, &webhook.url.host()).await;
        Response::json(&RotateWebhookResponse { webhook: WebhookView::of(webhook)?, secret })
    }
}
