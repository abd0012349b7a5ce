//! Words of messages. A message waits, and what it tells of may be hidden by the time it is sent, or shown again.

use serde_json::{Value, json};
use shared::{model::EventData, store::across::EventLogs};

use crate::DeliverError;

/// The message without the words of what the operator hides; `None` if it hides nothing of it. A read or two of messages that
/// have words.
pub(crate) async fn withheld(logs: &EventLogs, message: &str) -> Result<Option<String>, DeliverError> {
    let Some((mut message, mut data)) = data_of(message) else { return Ok(None) };
    let before = data.clone();
    logs.withhold([&mut data]).await?;
    if data == before {
        return Ok(None);
    }
    message["data"] = data.serialize_content(serde_json::value::Serializer)?;
    Ok(Some(message.to_string()))
}

/// A message with what it tells; `None` for one that is no event.
fn data_of(message: &str) -> Option<(Value, EventData)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let kind = message["type"].as_str()?.trim_end_matches(".reverted");
    let data = serde_json::from_value(json!({"type": kind, "data": message["data"]})).ok()?;
    Some((message, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_what_their_events_tell() {
        let data = json!({"address": "0x540c18b7f99b3b599c6feb99964498931c211858"});
        for kind in ["artist.updated", "artist.updated.reverted"] {
            let message = json!({"id": "1", "type": kind, "data": data});
            let (read, told) = data_of(&message.to_string()).unwrap();
            assert_eq!((read, told.kind().word()), (message, "artist.updated"));
        }
        assert!(data_of(r#"{"type": "webhook.test", "data": {}}"#).is_none());
    }
}
