//! `POST /webhooks/{id}/deliveries/{delivery}/redeliver`: sends an event once more.

use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{DeliveryId, DeliveryStatus},
    store::artist::Delivery,
};
use webhooks::{DeliveryPath, WebhookService};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RedeliverWebhook>().await
}

struct RedeliverWebhook(WebhookService);

impl Endpoint for RedeliverWebhook {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(WebhookService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let DeliveryPath { id, delivery } = request.path_parameters().read()?;
        let webhook = self.0.webhook(artist, id).await?;
        let found = self.0.deliveries.find(artist, id, delivery).await?;
        let found = found.ok_or_else(|| ApiError::not_found(format!("The webhook has no delivery {delivery}")))?;
        let now = self.0.admit(request, artist, &webhook).await?;
        if found.status == DeliveryStatus::Pending {
            return Err(ApiError::conflict("The delivery waits still: to have it tried now, send a test"));
        }
        let Delivery { event, r#type, body, .. } = found;
        let again = Delivery::new(DeliveryId::next(), id, event, r#type, body, now);
        Response::json(&self.0.send(artist, again).await?)
    }
}
