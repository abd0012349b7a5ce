//! Contract of `POST /webhooks`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{Address, EventKind, WebhookDescription, WebhookUrl},
};
use utoipa::ToSchema;

use crate::WebhookView;

/// A new webhook.
#[derive(FromFields, ToSchema)]
pub struct CreateWebhookRequest {
    /// Where events are sent to.
    pub url: WebhookUrl,
    /// Types of events to send; all unless given, or if there is none.
    #[schema(value_type = Option<Vec<EventKind>>, max_items = 20, default = json!([]))]
    pub types: Vec<EventKind>,
    /// The only collection whose events are sent; all unless given.
    pub collection: Option<Address>,
    /// A note for yourself.
    #[schema(value_type = Option<WebhookDescription>, default = "")]
    pub description: WebhookDescription,
}

/// A new webhook, with its secret.
#[derive(Serialize, ToSchema)]
pub struct CreateWebhookResponse {
    pub webhook: WebhookView,
    /// What messages are signed with. It is shown this once.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]{43}=$")]
    pub secret: String,
}

/// Create a webhook
///
/// Sends events that concern your wallets to its URL as they happen, each as a POST signed according to the public
/// specification Standard Webhooks. Its receiver first has to answer the challenge that it is sent. The secret is shown
/// this once. You have at most 10 webhooks. The artist is notified by mail. See the guide on webhooks.
#[utoipa::path(
    post,
    path = "/webhooks",
    tag = "Webhooks",
    security(("token" = [])),
    request_body(
        content = CreateWebhookRequest,
        example = json!({"url": "https://example.com/moments", "types": ["moment.collected", "comment.created"]}),
    ),
    responses((status = 200, description = "The webhook and its secret.", body = CreateWebhookResponse)),
    extensions(("x-errors" = json!([403, 409, 429]))),
)]
pub fn create_webhook() {}
