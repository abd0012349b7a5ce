//! Names of components, and what they stand for.

use serde_json::{Map, Value, json};

/// A reference to a schema.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A reference to a header.
pub fn header(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

/// A reference to a response.
pub fn response(name: &str) -> Value {
    json!({"$ref": format!("#/components/responses/{name}")})
}

/// The target of a reference to a schema; any other schema is its own.
pub fn resolve<'a>(schema: &'a Value, schemas: &'a Map<String, Value>) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    name.and_then(|name| schemas.get(name)).unwrap_or(schema)
}
