//! `DELETE /webhooks/{id}`: nothing more is sent to the webhook.

use shared::{
    api::activity::ActivityLog,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
};
use webhooks::{WebhookPath, WebhookService, delete_webhook::DeleteWebhookResponse, no_webhook};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DeleteWebhook>().await
}

struct DeleteWebhook {
    service: WebhookService,
    activity: ActivityLog,
}

impl Endpoint for DeleteWebhook {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: WebhookService::from_env().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.artist(request).await?;
        let WebhookPath { id } = request.path_parameters().read()?;
        let removed = self.service.webhooks.remove(artist, id).await?.ok_or_else(|| no_webhook(id))?;
        self.activity.note(request, artist, ActivityKind::WebhookDeleted, &removed.url.host()).await;
        Response::json(&DeleteWebhookResponse { success: true })
    }
}
