//! Completes an endpoint's description.

use heck::ToLowerCamelCase;
use serde::Deserialize;
use serde_json::{Error, Value, json};
use shared::http::{MAX_BODY, MAX_LARGE_BODY};

use crate::{
    errors::error_name,
    names::{header, response},
};

/// What an endpoint's description says in extensions, which aren't published.
#[derive(Deserialize)]
struct Extensions {
    /// None without a transaction.
    #[serde(rename = "x-effect")]
    effect: Option<Effect>,
    /// Its body's limit.
    #[serde(rename = "x-body", default)]
    body: BodyLimit,
    /// Error statuses, except those that follow from the inputs and the effect.
    #[serde(rename = "x-errors", default)]
    errors: Vec<u16>,
}

/// How an endpoint changes a chain.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Effect {
    /// It sends a transaction.
    Write,
}

/// The longest body.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BodyLimit {
    #[default]
    Normal,
    Large,
}

impl BodyLimit {
    fn bytes(self) -> usize {
        match self {
            Self::Normal => MAX_BODY,
            Self::Large => MAX_LARGE_BODY,
        }
    }
}

/// Errors of every write.
const WRITE_ERRORS: [u16; 7] = [402, 403, 409, 422, 429, 502, 503];

/// Adds the errors and headers that follow from the inputs and the extensions, and converts the name to camel case.
/// Fails for extensions of another form.
pub fn complete(method: &str, operation: &mut Value) -> Result<(), Error> {
    let Extensions { effect, body, errors: own_errors } = Extensions::deserialize(&*operation)?;
    if let Some(operation) = operation.as_object_mut() {
        operation.retain(|name, _| !["x-effect", "x-body", "x-errors"].contains(&name.as_str()));
    }
    let is_set = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    let (has_body, has_credential) = (operation["requestBody"].is_object(), is_set(&operation["security"]));
    let is_write = effect.is_some();
    let is_limited = is_write || own_errors.contains(&429);
    let mut errors = vec![429, 500];
    errors.extend(&own_errors);
    if has_body || is_set(&operation["parameters"]) {
        errors.push(400);
    }
    if has_body {
        errors.extend([413, 415]);
    }
    if has_credential {
        errors.push(401);
    }
    if is_write {
        errors.extend(WRITE_ERRORS);
        let headers = ["IdempotencyKey", "ValidUntil"];
        let headers = headers.map(|name| json!({"$ref": format!("#/components/parameters/{name}")}));
        match operation.get_mut("parameters").and_then(Value::as_array_mut) {
            Some(parameters) => parameters.extend(headers),
            None => operation["parameters"] = json!(headers),
        }
    }
    if let Some(name) = operation["operationId"].as_str() {
        operation["operationId"] = json!(name.to_lower_camel_case());
    }
    // A parameter or a whole body can be missing, but not null.
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for schema in parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")) {
        without_null(schema);
    }
    if has_body {
        let request = &mut operation["requestBody"];
        without_null(&mut request["content"]["application/json"]["schema"]);
        request["description"] = json!(format!("At most {} KiB.", body.bytes() / 1024));
    }
    if !has_credential {
        operation["security"] = json!([]);
    }
    let is_public = method == "get" && !has_credential;
    let Some(responses) = operation["responses"].as_object_mut() else { return Ok(()) };
    for (status, answer) in responses.iter_mut() {
        let links = answer.get_mut("links").and_then(Value::as_object_mut);
        for link in links.into_iter().flat_map(|links| links.values_mut()) {
            link["operationId"] = json!(link["operationId"].as_str().unwrap_or_default().to_lower_camel_case());
        }
        let mut add = |name: &str, component: &str| answer["headers"][name] = header(component);
        add("x-request-id", "RequestId");
        for header in answer["headers"].as_object_mut().into_iter().flat_map(|headers| headers.values_mut()) {
            header.get_mut("schema").into_iter().for_each(without_null);
        }
        let mut add = |name: &str, component: &str| answer["headers"][name] = header(component);
        if is_public {
            add("etag", "ETag");
        }
        if is_write {
            add("idempotent-replayed", "IdempotentReplayed");
            add("transaction-id", "TransactionId");
            if status == "202" {
                add("location", "Location");
                add("retry-after", "RetryAfter");
            }
        }
        if is_limited {
            add("ratelimit", "RateLimit");
            add("ratelimit-policy", "RateLimitPolicy");
        }
    }
    if is_public {
        responses.insert("304".to_owned(), response("NotModified"));
    }
    if is_write {
        responses.entry("202").or_insert_with(|| response("Accepted"));
    }
    for status in errors {
        if let Some(name) = error_name(status) {
            responses.entry(status.to_string()).or_insert_with(|| response(name));
        }
    }
    Ok(())
}

fn without_null(schema: &mut Value) {
    let is_value = |choice: &Value| *choice != json!("null") && choice["type"] != "null";
    for name in ["oneOf", "type"] {
        let Some(choices) = schema.get_mut(name).and_then(Value::as_array_mut) else { continue };
        choices.retain(is_value);
        match (name, choices.as_slice()) {
            ("oneOf", [only]) => *schema = only.clone(),
            (_, [only]) => schema[name] = only.clone(),
            _ => {}
        }
    }
}
