//! Messages to a webhook that no log of events has.

use serde_json::{Value, json};

use crate::{
    clock,
    model::{DeliveryId, WebhookId},
};

/// Type of the message whose `data.challenge` a receiver has to answer.
pub const CHALLENGE: &str = "webhook.challenge";

/// Writes a message with the attributes that events have. Fails for a time beyond the year 9999.
pub fn webhook_message(
    kind: &str,
    id: DeliveryId,
    webhook: WebhookId,
    data: &Value,
    now: u64,
) -> Result<String, time::Error> {
    let message = json!({
        "specversion": "1.0",
        "id": id,
        "source": "/service",
        "type": kind,
        "time": clock::iso_8601(now)?,
        "subject": format!("/webhooks/{webhook}"),
        "datacontenttype": "application/json",
        "data": data,
    });
    Ok(message.to_string())
}
