//! `PATCH /webhooks/{id}`: changes a webhook, or switches it off and on.

#[cfg(test)]
mod description;

use shared::{
    api::webhook::{WebhookPath, WebhookService, WebhookView, no_webhook, require_public},
    http::{ApiError, Endpoint, Field, FromField, FromFields, Request, Response, StartError, serve},
    model::{EventKind, WebhookDescription, WebhookStatus, WebhookUrl},
    public_web::PrivateReceivers,
    store::artist::Webhook,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateWebhook>().await
}

struct UpdateWebhook {
    service: WebhookService,
    receivers: PrivateReceivers,
}

/// What changes. A missing field stays as it is; at least one is required.
#[derive(FromFields, ToSchema)]
struct UpdateWebhookRequest {
    /// Where events are sent to.
    url: Option<WebhookUrl>,
    /// Types of events to send; all if there is none.
    #[schema(max_items = 20)]
    types: Option<Vec<EventKind>>,
    /// A note for yourself; may be empty.
    description: Option<WebhookDescription>,
    /// Whether it gets events.
    #[schema(value_type = Option<bool>)]
    active: Option<Activity>,
}

#[derive(Clone, Copy)]
struct Activity(bool);

impl FromField for Activity {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        field.boolean().map(Self)
    }
}

impl UpdateWebhookRequest {
    fn is_empty(&self) -> bool {
        let Self { url, types, description, active } = self;
        url.is_none() && types.is_none() && description.is_none() && active.is_none()
    }

    fn apply(&self, webhook: &mut Webhook) {
        if let Some(url) = &self.url {
            webhook.url = url.clone();
        }
        if let Some(types) = &self.types {
            webhook.types = types.clone();
            webhook.types.sort_unstable();
            webhook.types.dedup();
        }
        if let Some(description) = &self.description {
            webhook.description = description.clone();
        }
        match self.active {
            Some(Activity(true)) => webhook.status = WebhookStatus::Active,
            Some(Activity(false)) if webhook.is_active() => webhook.status = WebhookStatus::Paused,
            _ => {}
        }
    }
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
