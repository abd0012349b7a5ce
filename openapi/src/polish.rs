//! Turns what utoipa makes of types into what generators of clients read well.

use heck::ToUpperCamelCase;
use serde_json::{Map, Value, json};

use crate::{
    example,
    names::{reference, resolve},
};

/// Polishes a description: its schemas first, since its answers refer to them.
pub fn polish(description: &mut Value) {
    tidy(description);
    let mut schemas = description["components"]["schemas"].as_object().cloned().unwrap_or_default();
    let known = schemas.clone();
    schemas.values_mut().for_each(|schema| merge(schema, &known));
    let paths = description["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        name_parameters(operation, &mut schemas);
        name_answers(operation, &mut schemas);
    }
    for schema in schemas.values_mut().filter_map(Value::as_object_mut) {
        schema.remove("title");
    }
    // Parts that became one with others have no use any more.
    if description["paths"].is_object() {
        let text = format!("{}{}", description["paths"], Value::from(schemas.clone()));
        schemas.retain(|name, _| text.contains(&reference(name)["$ref"].to_string()));
    }
    description["components"]["schemas"] = schemas.into();
}

/// Makes a schema that is used in one place a component of its own, so that its type has a name.
fn name_parameters(operation: &mut Value, schemas: &mut Map<String, Value>) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for schema in parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")) {
        let Some(title) = schema["title"].as_str().map(ToOwned::to_owned) else { continue };
        let default = schema["default"].take();
        if let Some(fields) = schema.as_object_mut() {
            fields.remove("default");
        }
        schemas.insert(title.clone(), schema.take());
        *schema = reference(&title);
        if !default.is_null() {
            schema["default"] = default;
        }
    }
}

fn name_answers(operation: &mut Value, schemas: &mut Map<String, Value>) {
    let name = operation["operationId"].as_str().unwrap_or_default().to_upper_camel_case();
    let responses = operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for content in responses.filter_map(|response| response.get_mut("content")?.get_mut("application/json")) {
        if content["schema"]["$ref"].is_null() {
            let name = format!("{name}Response");
            merge(&mut content["schema"], schemas);
            schemas.insert(name.clone(), content["schema"].take());
            content["schema"] = reference(&name);
        }
        // Rules between fields need one written by hand.
        if content["example"].is_null() {
            content["example"] = example::of(&content["schema"], schemas);
        }
    }
}

/// Makes one object of several that hold together.
fn merge(schema: &mut Value, schemas: &Map<String, Value>) {
    match schema {
        Value::Array(values) => values.iter_mut().for_each(|value| merge(value, schemas)),
        Value::Object(values) => values.values_mut().for_each(|value| merge(value, schemas)),
        _ => return,
    }
    let Some(parts) = schema["allOf"].as_array().cloned() else { return };
    let mut whole = schema.clone();
    whole.as_object_mut().map(|whole| whole.remove("allOf"));
    whole["type"] = json!("object");
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for part in &parts {
        let part = resolve(part, schemas);
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
        for (name, value) in part.as_object().into_iter().flatten() {
            if !["type", "properties", "required"].contains(&name.as_str()) && whole[name].is_null() {
                whole[name] = value.clone();
            }
        }
    }
    (whole["properties"], whole["required"]) = (properties.into(), required.into());
    *schema = whole;
}

/// Makes one line of each paragraph, puts descriptions outside the choice between a value and null, and says of a constant
/// that it is one and of a time what its form is.
fn tidy(value: &mut Value) {
    let values = match value {
        Value::Array(values) => return values.iter_mut().for_each(tidy),
        Value::Object(values) => values,
        _ => return,
    };
    values.values_mut().for_each(tidy);
    if let Some(Value::String(text)) = values.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
    let inner = values.get_mut("oneOf").and_then(|choices| choices.get_mut(0)).and_then(Value::as_object_mut);
    if let Some(description) = inner.and_then(|choice| choice.remove("description")) {
        values.insert("description".to_owned(), description);
    }
    if let Some(constant) = constant(values) {
        values.retain(|name, _| name != "enum" && name != "pattern");
        values.insert("const".to_owned(), constant);
    }
    let text = |name: &str| values.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("description").starts_with("ISO 8601") {
        values.insert("format".to_owned(), json!("date-time"));
    } else if text("format") == "int32" && values.get("minimum").is_some_and(|least| *least == 0) {
        // Unsigned, so that its upper half is no int32.
        values.insert("format".to_owned(), json!("int64"));
    }
}

/// The one value that a schema allows.
fn constant(schema: &Map<String, Value>) -> Option<Value> {
    if let Some([only]) = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
        return Some(only.clone());
    }
    let literal = schema.get("pattern")?.as_str()?.strip_prefix('^')?.strip_suffix('$')?;
    let is_plain = literal.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
    is_plain.then(|| json!(literal))
}
