//! `POST /webhooks/{id}/test`: sends an event that says nothing.

#[cfg(test)]
mod description;

use shared::{
    api::webhook::{WebhookPath, WebhookService, test_event},
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<TestWebhook>().await
}

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
