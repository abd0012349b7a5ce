//! Examples of answers, made of those of their parts.

use serde_json::{Map, Value, json};

use crate::names::resolve;

/// Examples of fields whose types have none.
const FIELDS: [(&str, &str); 31] = [
    ("amount", "0.001"),
    ("apiKey", "moments_4f8c2e6a9b1d3f5071829304a5b6c7d8e9f0a1b2"),
    ("bio", "I keep a diary of the weather."),
    ("comment", "The light on the water!"),
    ("created_at", "2026-11-21T09:30:00Z"),
    ("decimalAmount", "0.001"),
    ("description", "Forty evenings at the same window."),
    ("eth_spent", "0.042"),
    ("event_id", "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f.1207"),
    ("field", "moment.collectionAddress"),
    ("hash", "0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f"),
    ("hashes", "0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f"),
    ("image", "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"),
    ("instagram_username", "ada"),
    ("last_used_at", "2026-11-21T09:30:00Z"),
    ("message", "example.com wants you to sign in with your Ethereum account"),
    ("mime", "image/png"),
    ("name", "Weather diary"),
    ("permissions", "ADMIN"),
    ("prefix", "moments_4f8c"),
    ("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="),
    ("symbol", "ETH"),
    ("token", "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"),
    ("transactionHash", "0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f"),
    ("transaction_hash", "0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f"),
    ("transferred_at", "2026-11-21T09:30:00+00:00"),
    ("type", "moment.collected"),
    ("updated_at", "2026-11-21T09:30:00Z"),
    ("uri", "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"),
    ("usdc_spent", "12.5"),
    ("username", "ada.lovelace"),
];

/// Most levels of an example, since comments have replies.
const MAX_DEPTH: usize = 5;

/// An example of a schema.
pub fn of(schema: &Value, schemas: &Map<String, Value>) -> Value {
    sample("", schema, schemas, 0)
}

fn sample(name: &str, schema: &Value, schemas: &Map<String, Value>, depth: usize) -> Value {
    let schema = resolve(schema, schemas);
    let own = [&schema["const"], &schema["example"], &schema["examples"][0], &schema["enum"][0]];
    if let Some(value) = own.into_iter().find(|value| !value.is_null()) {
        return value.clone();
    }
    let inside = |name: &str, schema: &Value| sample(name, schema, schemas, depth + 1);
    let choices = ["oneOf", "anyOf"].iter().find_map(|key| schema[key].as_array());
    if let Some(choice) = choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")) {
        return inside(name, choice);
    }
    if let Some(properties) = schema["properties"].as_object() {
        return properties.iter().map(|(name, schema)| (name.clone(), inside(name, schema))).collect();
    }
    if let Some(parts) = schema["prefixItems"].as_array() {
        return parts.iter().map(|part| inside(name, part)).collect();
    }
    let is_known = FIELDS.iter().any(|(field, _)| *field == name);
    if !is_known && schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("null"))) {
        return Value::Null;
    }
    let kind = if schema["type"].is_array() { &schema["type"][0] } else { &schema["type"] };
    match kind.as_str() {
        Some("array") if depth >= MAX_DEPTH || schema["maxItems"] == 0 => json!([]),
        Some("array") => json!([inside(name, &schema["items"])]),
        Some("string") if schema["format"] == "date-time" && !is_known => json!("2026-11-21T09:30:00Z"),
        Some("string") if schema["format"] == "uri" && !is_known => json!("https://api.moments.example/1"),
        Some("string") => json!(FIELDS.iter().find(|(field, _)| *field == name).map_or("", |(_, example)| example)),
        Some("integer" | "number") => schema["minimum"].as_u64().map_or(json!(1), |least| json!(least.max(1))),
        Some("boolean") => json!(true),
        _ => json!({}),
    }
}
