//! `GET /webhooks/{id}/deliveries`: what was sent to a webhook in the last 7 days, and what waits.

use shared::{
    clock,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};
use webhooks::{
    DeliveryView, WebhookPath, WebhookService,
    list_deliveries::{ListDeliveriesQuery, ListDeliveriesResponse},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListDeliveries>().await
}

struct ListDeliveries(WebhookService);

impl Endpoint for ListDeliveries {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(WebhookService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.0.artist(request).await?;
        let (WebhookPath { id }, ListDeliveriesQuery { limit, before }) =
            (request.path_parameters().read()?, request.query().read()?);
        self.0.webhook(artist, id).await?;
        let (now, rows) = (clock::now()?.as_secs(), usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let found = self.0.deliveries.list(artist, id, before, rows, now).await?;
        let last = found.last().map(|last| last.id).filter(|_| found.len() == rows);
        let deliveries = found.into_iter().map(DeliveryView::of).collect::<Result<_, _>>()?;
        let response = Response::json(&ListDeliveriesResponse { deliveries })?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
