//! `PATCH /webhooks/{id}`: changes a webhook, or switches it off and on.

use shared::{
    api::activity::ActivityLog,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
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
    activity: ActivityLog,
}

impl Endpoint for UpdateWebhook {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: WebhookService::from_env().await?, receivers: PrivateReceivers::from_env()?, activity })
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
        // Either may have a receiver challenged.
        let is_asked = change.url.is_some() || change.active == Some(true);
        let now = if is_asked { self.service.count(request, artist).await? } else { clock::now()?.as_secs() };
        let changed = self.service.webhooks.change(artist, id, |webhook| change.apply(webhook, now)).await?;
        let webhook = changed.ok_or_else(|| no_webhook(id))?;
        // The host alone: paths of receivers are often secrets.
        let host = webhook.url.parsed().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        self.activity.note(request, artist, ActivityKind::WebhookChanged, &host).await;
        if webhook.is_active() && (change.active.is_some() || change.url.is_some()) {
            self.service.queue.ask(artist, id).await?;
        }
        Response::json(&WebhookView::of(webhook)?)
    }
}
