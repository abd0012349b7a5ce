//! `POST /webhooks`: makes a webhook and shows its secret, this once.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::{
        activity::ActivityLog,
        webhook::{WebhookService, WebhookView, require_public},
    },
    auth::webhook_secret::WebhookSecrets,
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityKind, Address, EventKind, WebhookDescription, WebhookUrl},
    public_web::PrivateReceivers,
    store::artist::{MAX_WEBHOOKS, Webhook},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateWebhook>().await
}

struct CreateWebhook {
    service: WebhookService,
    secrets: WebhookSecrets,
    receivers: PrivateReceivers,
    activity: ActivityLog,
}

/// A new webhook.
#[derive(FromFields, ToSchema)]
struct CreateWebhookRequest {
    /// Where events are sent to.
    url: WebhookUrl,
    /// Types of events to send; all unless given, or if there is none.
    #[schema(value_type = Option<Vec<EventKind>>, max_items = 20, default = json!([]))]
    types: Vec<EventKind>,
    /// The only collection whose events are sent; all unless given.
    collection: Option<Address>,
    /// A note for yourself.
    #[schema(value_type = Option<WebhookDescription>, default = "")]
    description: WebhookDescription,
}

/// A new webhook, with its secret.
#[derive(Serialize, ToSchema)]
struct CreateWebhookResponse {
    webhook: WebhookView,
    /// What messages are signed with. It is shown this once.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]{43}=$")]
    secret: String,
}

impl Endpoint for CreateWebhook {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: WebhookService::from_env().await?,
            secrets: WebhookSecrets::from_env(&aws)?,
            receivers: PrivateReceivers::from_env()?,
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.artist(request).await?;
        let CreateWebhookRequest { url, mut types, collection, description } = request.json()?.read()?;
        require_public(&self.receivers, &url)?;
        types.sort_unstable();
        types.dedup();
        let webhook = Webhook { description, types, collection, ..Webhook::new(url, clock::now()?.as_secs()) };
        let secret = self.secrets.secret(webhook.id, webhook.generation).await?.reveal();
        if !self.service.webhooks.add(artist, &webhook).await? {
            return Err(ApiError::conflict(format!("You have {MAX_WEBHOOKS} webhooks already: delete one first")));
        }
        self.activity.note(request, artist, ActivityKind::WebhookCreated, &webhook.url.to_string()).await;
        Response::json(&CreateWebhookResponse { webhook: WebhookView::of(webhook)?, secret })
    }
}
