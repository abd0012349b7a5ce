//! What receivers of webhooks answer.

use axum::body::Bytes;
use serde_json::Value;

/// The answer to a message that is a challenge; `None` for any other.
pub fn answer(message: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(message).ok()?;
    (message["type"] == "webhook.challenge").then(|| message["data"].to_string())
}

/// Takes every message, and answers challenges.
pub async fn take(message: Bytes) -> String {
    answer(&message).unwrap_or_default()
}
