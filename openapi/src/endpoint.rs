//! Completes an endpoint's description.

use serde_json::{Value, json};

use crate::frame::{error_name, header_ref};

/// Whether an endpoint sends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No transaction.
    Nothing,
    /// A transaction.
    Write,
    /// A transaction that moves money or tokens: it needs an idempotency key.
    Payment,
}

/// Errors of every write.
const WRITE_ERRORS: [u16; 7] = [402, 403, 409, 422, 429, 502, 503];

/// Adds the errors and headers that follow from the inputs, and converts the name to camel case.
pub fn complete(method: &str, operation: &mut Value, effect: Effect, own_errors: &[u16]) {
    let is_set = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    let (has_body, has_credential) = (operation["requestBody"].is_object(), is_set(&operation["security"]));
    let is_write = effect != Effect::Nothing;
    let is_limited = is_write || own_errors.contains(&429);
    let mut errors = vec![429, 500];
    errors.extend(own_errors);
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
        let name = if effect == Effect::Payment { "RequiredIdempotencyKey" } else { "IdempotencyKey" };
        let key = json!({"$ref": format!("#/components/parameters/{name}")});
        match operation.get_mut("parameters").and_then(Value::as_array_mut) {
            Some(parameters) => parameters.push(key),
            None => operation["parameters"] = json!([key]),
        }
    }
    if let Some(name) = operation["operationId"].as_str() {
        operation["operationId"] = json!(camel_case(name));
    }
    // A parameter or a whole body can be missing, but not null.
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for schema in parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")) {
        without_null(schema);
    }
    if has_body {
        let body = &mut operation["requestBody"];
        without_null(&mut body["content"]["application/json"]["schema"]);
        if body["description"].is_null() {
            body["description"] = json!("At most 16 KiB.");
        }
    }
    if !has_credential {
        operation["security"] = json!([]);
    }
    let is_public = method == "get" && !has_credential;
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for (status, response) in responses.iter_mut() {
        let links = response.get_mut("links").and_then(Value::as_object_mut);
        for link in links.into_iter().flat_map(|links| links.values_mut()) {
            link["operationId"] = json!(camel_case(link["operationId"].as_str().unwrap_or_default()));
        }
        let mut add = |name: &str, component: &str| response["headers"][name] = header_ref(component);
        add("x-request-id", "RequestId");
        for header in response["headers"].as_object_mut().into_iter().flat_map(|headers| headers.values_mut()) {
            header.get_mut("schema").into_iter().for_each(without_null);
        }
        let mut add = |name: &str, component: &str| response["headers"][name] = header_ref(component);
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
        responses.insert("304".to_owned(), json!({"$ref": "#/components/responses/NotModified"}));
    }
    if is_write {
        let accepted = json!({"$ref": "#/components/responses/Accepted"});
        responses.entry("202").or_insert(accepted);
    }
    for status in errors {
        if let Some(name) = error_name(status) {
            let response = json!({"$ref": format!("#/components/responses/{name}")});
            responses.entry(status.to_string()).or_insert(response);
        }
    }
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

/// `list_comments` → `listComments`
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        name + &initial.to_uppercase() + rest
    })
}
