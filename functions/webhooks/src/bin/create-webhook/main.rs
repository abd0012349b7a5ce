//! `POST /webhooks`: makes a webhook and shows its secret, this once.

use shared::{
    api::activity::ActivityLog,
    auth::webhook_secret::WebhookSecrets,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    public_web::PrivateReceivers,
    store::artist::{MAX_WEBHOOKS, Webhook},
};
use webhooks::{
    WebhookService, WebhookView,
    create_webhook::{CreateWebhookRequest, CreateWebhookResponse},
    require_public,
};

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
        let key = Some(self.secrets.key().to_owned());
        let now = self.service.count(request, artist).await?;
        let mut webhook = Webhook { description, types, collection, key, ..Webhook::new(url, now) };
        webhook.challenge(now);
        let secret = self.secrets.newest(&webhook).await?.reveal();
        if !self.service.webhooks.add(artist, &webhook).await? {
            return Err(ApiError::conflict(format!("You have {MAX_WEBHOOKS} webhooks already: delete one first")));
        }
        self.service.queue.ask(artist, webhook.id).await?;
        self.activity.note(request, artist, ActivityKind::WebhookCreated, &webhook.url.host()).await;
        Response::json(&CreateWebhookResponse { webhook: WebhookView::of(webhook)?, secret })
    }
}
