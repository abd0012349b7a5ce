//! The whole document.

use serde_json::{Map, Value};
use utoipa::openapi::OpenApi;

use crate::{endpoint::complete, frame::frame, polish::polish};

/// Why contracts make no document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// An endpoint's `x-effect` or `x-errors` has another form.
    #[error("the extensions of {method} {path}: {source}")]
    Extensions {
        /// The endpoint's path.
        path: String,
        /// The endpoint's method.
        method: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A description can't be serialized.
    #[error("a description is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Two resources describe one endpoint, or different schemas under one name.
    #[error("{0} is described in two ways")]
    Ambiguous(String),
}

/// Makes the document of the resources' contracts.
///
/// # Errors
/// As [`DocumentError`] lists them: all are mistakes in descriptions.
pub fn document(contracts: impl IntoIterator<Item = OpenApi>) -> Result<Value, DocumentError> {
    let mut document = frame();
    for contract in contracts {
        let mut contract = serde_json::to_value(contract)?;
        polish(&mut contract);
        for (path, mut operations) in entries(&mut contract["paths"]) {
            for (method, mut operation) in entries(&mut operations) {
                if let Err(source) = complete(&method, &mut operation) {
                    return Err(DocumentError::Extensions { path, method, source });
                }
                if !set(&mut document["paths"][&path][&method], operation) {
                    return Err(DocumentError::Ambiguous(format!("{method} {path}")));
                }
            }
        }
        for (name, schema) in entries(&mut contract["components"]["schemas"]) {
            if !set(&mut document["components"]["schemas"][&name], schema) {
                return Err(DocumentError::Ambiguous(format!("the schema {name}")));
            }
        }
    }
    Ok(document)
}

/// Takes an object's fields; none of anything else.
fn entries(value: &mut Value) -> Map<String, Value> {
    value.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// Whether the place was empty or had the same value.
fn set(place: &mut Value, value: Value) -> bool {
    let fits = place.is_null() || *place == value;
    *place = value;
    fits
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::{
        OpenApiBuilder, Paths,
        extensions::Extensions,
        path::{HttpMethod, OperationBuilder, PathItem},
    };

    use super::*;

    /// A contract of `PUT /tests`.
    fn contract(summary: &str, extensions: Value) -> OpenApi {
        let extensions = Extensions::from_iter(entries(&mut extensions.clone()));
        let operation = OperationBuilder::new().summary(Some(summary)).extensions(Some(extensions));
        let mut paths = Paths::new();
        paths.paths.insert("/tests".to_owned(), PathItem::new(HttpMethod::Put, operation));
        OpenApiBuilder::new().paths(paths).build()
    }

    #[test]
    fn extensions_become_statuses_and_are_not_published() {
        let contract = contract("Test", serde_json::json!({"x-effect": "write", "x-errors": [404]}));
        let document = document([contract]).unwrap();
        let put = &document["paths"]["/tests"]["put"];
        assert_eq!(put["responses"]["404"]["$ref"], "#/components/responses/NotFound");
        assert_eq!(put["responses"]["202"]["$ref"], "#/components/responses/Accepted");
        assert_eq!(put["parameters"][0]["$ref"], "#/components/parameters/IdempotencyKey");
        assert!(put.as_object().unwrap().keys().all(|name| !name.starts_with("x-")), "{put}");
    }

    #[test]
    fn unknown_effect_is_refused() {
        let contract = contract("Test", serde_json::json!({"x-effect": "writes"}));
        let error = document([contract]).unwrap_err().to_string();
        assert!(error.starts_with("the extensions of put /tests: unknown variant `writes`"), "{error}");
    }

    #[test]
    fn endpoint_with_two_descriptions_is_refused() {
        let contracts = ["Test", "Try"].map(|summary| contract(summary, serde_json::json!({})));
        assert!(matches!(document(contracts), Err(DocumentError::Ambiguous(name)) if name == "put /tests"));
    }
}
