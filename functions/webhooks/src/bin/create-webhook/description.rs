use super::{CreateWebhookRequest, CreateWebhookResponse};

/// Create a webhook
///
/// Events that concern your wallets are sent to its URL as they happen, each as a POST that is signed by the public
/// specification Standard Webhooks. The secret is shown this once. You have at most 10. The artist gets a mail about it. See
/// the guide on webhooks.
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
)]
fn create_webhook() {}

openapi::published!(create_webhook, 403, 409);
