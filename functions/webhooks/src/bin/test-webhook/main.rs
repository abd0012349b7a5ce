//! `POST /webhooks/{id}/test`: sends an event that says nothing.

use shared::{
    api::webhook_message::webhook_message,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, json, serve},
    model::{DeliveryId, WebhookId},
    store::artist::Delivery,
};
use webhooks::{WebhookPath, WebhookService};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<TestWebhook>().await
}

/// Type of the event.
const TEST: &str = "webhook.test";

struct TestWebhook(WebhookService);

impl Endpoint for TestWebhook {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(WebhookService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let WebhookPath { id } = request.path_parameters().read()?;
        let webhook = self.0.webhook(artist, id).await?;
        let now = self.0.admit(request, artist, &webhook).await?;
        Response::json(&self.0.send(artist, test_event(id, now)?).await?)
    }
}

/// An event that says nothing, to try a receiver with.
fn test_event(webhook: WebhookId, now: u64) -> Result<Delivery, ApiError> {
    let id = DeliveryId::next();
    let body = webhook_message(TEST, id, webhook, &json!({"webhook": webhook}), now)?;
    Ok(Delivery::new(id, webhook, id.to_string(), TEST.to_owned(), body, now))
}
