//! The API description in OpenAPI 3.0, for tools that don't read 3.1. What 3.0 can't say is left out: it allows more, never
//! less, save that an optional field of several types can't be null: no tool reads that well, and leaving it out does the same.

use serde_json::{Map, Value, json};

/// Converts the whole document.
pub fn convert(document: &Value) -> Value {
    let mut older = document.clone();
    older["openapi"] = json!("3.0.3");
    for (part, name) in [("info", "summary"), ("license", "identifier")] {
        let holder = if part == "info" { &mut older["info"] } else { &mut older["info"]["license"] };
        holder.as_object_mut().map(|fields| fields.remove(name));
    }
    older["info"]["license"]["url"] = json!("https://spdx.org/licenses/MIT.html");
    // They have no form in 3.0.
    older.as_object_mut().map(|parts| parts.remove("webhooks"));
    walk(&mut older);
    let schemas = older["components"]["schemas"].clone();
    name_types(&mut older, &schemas);
    older
}

/// What may be null must have a type in 3.0, and one only.
fn name_types(value: &mut Value, schemas: &Value) {
    match value {
        Value::Array(values) => return values.iter_mut().for_each(|value| name_types(value, schemas)),
        Value::Object(values) => values.values_mut().for_each(|value| name_types(value, schemas)),
        _ => return,
    }
    if value["nullable"] != true || value["type"].is_string() {
        return;
    }
    let kind = kind(value, schemas);
    let Some(schema) = value.as_object_mut() else { return };
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.into());
        return;
    }
    schema.remove("nullable");
}

/// The one type that a schema has.
fn kind(schema: &Value, schemas: &Value) -> Option<String> {
    if let Some(kind) = schema["type"].as_str() {
        return Some(kind.to_owned());
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return kind(&schemas[name], schemas);
    }
    let choices = ["allOf", "oneOf", "anyOf"].iter().find_map(|key| schema[key].as_array())?;
    let mut kinds = choices.iter().map(|choice| kind(choice, schemas));
    let first = kinds.next()??;
    kinds.all(|kind| kind.as_ref() == Some(&first)).then_some(first)
}

fn walk(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(walk),
        Value::Object(values) => {
            for (name, value) in values.iter_mut() {
                // A field of an example may be called as a keyword of schemas is.
                if !["example", "default", "enum", "const"].contains(&name.as_str()) {
                    walk(value);
                }
            }
            schema(values);
        }
        _ => {}
    }
}

/// Rewrites an object in place. One that is no schema has none of these keys, and stays as it is.
fn schema(schema: &mut Map<String, Value>) {
    if let Some(constant) = schema.remove("const") {
        schema.insert("enum".to_owned(), json!([constant]));
    }
    if let Some(first) = schema.get("examples").and_then(|examples| examples.get(0)).cloned() {
        schema.remove("examples");
        schema.insert("example".to_owned(), first);
    }
    if let Some(Value::Array(parts)) = schema.remove("prefixItems") {
        let mut kinds = Vec::new();
        for part in parts {
            if !kinds.contains(&part) {
                kinds.push(part);
            }
        }
        schema.insert("items".to_owned(), json!({"anyOf": kinds}));
    }
    for (bound, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(least) = schema.get(bound).filter(|value| value.is_number()).cloned() {
            schema.insert(inclusive.to_owned(), least);
            schema.insert(bound.to_owned(), json!(true));
        }
    }
    if schema.get("additionalProperties").is_some_and(|rest| *rest == json!({})) {
        schema.insert("additionalProperties".to_owned(), json!(true));
    }
    types(schema);
    choices(schema);
    // Beside a reference nothing else counts.
    let is_schema = schema.get("$ref").and_then(Value::as_str).is_some_and(|to| to.contains("/schemas/"));
    if is_schema && schema.len() > 1 {
        let reference = schema.remove("$ref");
        schema.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

/// A list of types becomes one that may be null, or a choice.
fn types(schema: &mut Map<String, Value>) {
    let Some(kinds) = schema.get("type").and_then(Value::as_array).cloned() else { return };
    let present: Vec<_> = kinds.iter().filter(|kind| **kind != "null").cloned().collect();
    if present.len() < kinds.len() {
        schema.insert("nullable".to_owned(), json!(true));
    }
    schema.remove("type");
    match present.as_slice() {
        [only] => _ = schema.insert("type".to_owned(), only.clone()),
        several => {
            let choices: Vec<_> = several.iter().map(|kind| json!({"type": kind})).collect();
            schema.insert("anyOf".to_owned(), choices.into());
        }
    }
}

/// A choice with null becomes one that may be null.
fn choices(schema: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        let Some(choices) = schema.get_mut(key).and_then(Value::as_array_mut) else { continue };
        let before = choices.len();
        choices.retain(|choice| choice["type"] != "null");
        if choices.len() == before {
            continue;
        }
        let left = choices.clone();
        schema.insert("nullable".to_owned(), json!(true));
        if let [only] = left.as_slice() {
            schema.remove(key);
            schema.insert("allOf".to_owned(), json!([only]));
        }
    }
}
