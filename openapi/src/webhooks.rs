//! The events that webhooks are sent, one for each type.

use heck::ToLowerCamelCase;
use serde_json::{Map, Value, json};
use shared::{api::read::EventView, model::EventKind};
use utoipa::ToSchema;

use crate::{example, names::reference, polish::polish};

/// Headers of Standard Webhooks (<https://www.standardwebhooks.com>).
const HEADERS: [(&str, &str, &str); 3] = [
    (
        "webhook-id",
        "The event's id and its place in the log: the same with every attempt.",
        "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f.1207",
    ),
    ("webhook-timestamp", "When it was sent, in Unix seconds.", "1795176000"),
    (
        "webhook-signature",
        "Signatures of `id.timestamp.body` with each of the webhook's secrets, separated by spaces.",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
];

/// The document's `webhooks`.
pub fn webhooks() -> Map<String, Value> {
    let schemas = schemas();
    let webhook = |kind: &EventKind| {
        let (name, says) = (kind.name(), kind.says());
        let schema = reference(name);
        let example = example::of(&schema, &schemas);
        let header = |(name, description, example): (&str, &str, &str)| {
            json!({
                "name": name,
                "in": "header",
                "required": true,
                "description": description,
                "schema": {"type": "string"},
                "example": example,
            })
        };
        let post = json!({
            "operationId": format!("on.{}", kind.word()).to_lower_camel_case(),
            "tags": ["Webhook events"],
            "summary": says.trim_end_matches('.'),
            "description": format!("{says} With `.reverted`, the chain has taken it back."),
            "security": [],
            "parameters": HEADERS.map(header),
            "requestBody": {
                "description": "The event.",
                "required": true,
                "content": {"application/json": {"schema": schema, "example": example}},
            },
            "responses": {"2XX": {"description": "It is taken."}},
        });
        (kind.word().to_owned(), json!({"post": post}))
    };
    EventKind::ALL.iter().map(webhook).collect()
}

fn schemas() -> Map<String, Value> {
    let mut schemas = Vec::new();
    EventView::schemas(&mut schemas);
    let schemas: Value = schemas.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let mut description = json!({"components": {"schemas": schemas}});
    polish(&mut description);
    description["components"]["schemas"].as_object().cloned().unwrap_or_default()
}
