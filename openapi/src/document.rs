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
                insert(&mut document["paths"][&path], method, operation)?;
            }
        }
        for (name, schema) in entries(&mut contract["components"]["schemas"]) {
            insert(&mut document["components"]["schemas"], name, schema)?;
        }
    }
    Ok(document)
}

/// Takes an object's fields; none of anything else.
fn entries(value: &mut Value) -> Map<String, Value> {
    value.as_object_mut().map(std::mem::take).unwrap_or_default()
}

fn insert(object: &mut Value, name: String, value: Value) -> Result<(), DocumentError> {
    let present = &mut object[&name];
    if !present.is_null() && *present != value {
        return Err(DocumentError::Ambiguous(name));
    }
    *present = value;
    Ok(())
}
