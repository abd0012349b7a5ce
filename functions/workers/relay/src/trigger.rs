use serde::Deserialize;
use shared::model::ChainId;

/// Event that starts the relay: records of the table's stream, or the schedule's event, which has none.
#[derive(Debug, Default, Deserialize)]
pub struct Trigger {
    #[serde(default, rename = "Records")]
    records: Vec<Record>,
}

#[derive(Debug, Deserialize)]
struct Record {
    dynamodb: Change,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change {
    keys: Keys,
}

#[derive(Debug, Deserialize)]
struct Keys {
    pk: Text,
}

#[derive(Debug, Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

impl Trigger {
    /// Whether there may be something to do on a chain.
    pub(crate) fn concerns(&self, chain: ChainId) -> bool {
        let queues = format!("QUEUE#{chain}#");
        self.records.is_empty() || self.records.iter().any(|record| record.dynamodb.keys.pk.text.starts_with(&queues))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stream_records_trigger_their_chain_and_the_schedule_all() {
        let of = |queue: &str| -> Trigger {
            let keys = json!({"pk": {"S": queue}, "sk": {"S": "00001#a#b"}});
            let record = json!({"eventName": "INSERT", "dynamodb": {"Keys": keys, "SequenceNumber": "1"}});
            serde_json::from_value(json!({"Records": [record]})).unwrap()
        };
        assert!(of("QUEUE#8453#PLAIN").concerns(ChainId(8453)));
        assert!(!of("QUEUE#8453#PLAIN").concerns(ChainId(84)));
        let tick: Trigger = serde_json::from_value(json!({"id": "53dc4d37", "detail": {}})).unwrap();
        assert!(tick.concerns(ChainId(1)));
    }
}
