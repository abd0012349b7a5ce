//! Contract of `PATCH /webhooks/{id}`.

use shared::{
    http::FromFields,
    model::{EventKind, WebhookDescription, WebhookStatus, WebhookUrl},
    store::artist::Webhook,
};
use utoipa::ToSchema;

use crate::{WebhookPath, WebhookView};

/// What changes. A missing field stays as it is; at least one is required.
#[derive(FromFields, ToSchema)]
pub struct UpdateWebhookRequest {
    /// Where events are sent to.
    pub url: Option<WebhookUrl>,
    /// Types of events to send; all if there is none.
    #[schema(max_items = 20)]
    pub types: Option<Vec<EventKind>>,
    /// A note for yourself; may be empty.
    pub description: Option<WebhookDescription>,
    /// Whether it gets events.
    #[schema(value_type = Option<bool>)]
    pub active: Option<bool>,
}

impl UpdateWebhookRequest {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        let Self { url, types, description, active } = self;
        url.is_none() && types.is_none() && description.is_none() && active.is_none()
    }

    /// Changes the webhook at `now` (Unix seconds).
    pub fn apply(&self, webhook: &mut Webhook, now: u64) {
        if let Some(url) = &self.url {
            webhook.redirect(url, now);
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
            Some(true) => webhook.switch_on(now),
            Some(false) if webhook.is_active() => webhook.status = WebhookStatus::Paused,
            _ => {}
        }
    }
}

/// Change a webhook
///
/// Missing fields stay unchanged; at least one is required. While a webhook is off, new events aren't kept for it.
/// Once it is on again, events that were queued before, for up to three days, are sent first. The receiver at another
/// URL is challenged first, as that of a new webhook; `active: true` has one that didn't answer challenged again.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath),
    request_body(content = UpdateWebhookRequest, example = json!({"active": true})),
    responses((status = 200, description = "The webhook.", body = WebhookView)),
    extensions(("x-errors" = json!([403, 404, 429]))),
)]
pub fn update_webhook() {}
