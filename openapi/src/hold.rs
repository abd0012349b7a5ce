//! Compares one endpoint's description with the published document.

use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

/// Compares the published document with an endpoint's description.
///
/// # Panics
/// When they differ.
#[expect(clippy::expect_used, reason = "a test's own")]
pub fn hold(mut description: OpenApi, effect: Option<&str>, errors: &[u16]) {
    for item in description.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        for operation in operations.into_iter().flatten() {
            let mut extensions = utoipa::openapi::extensions::Extensions::builder().add("x-errors", json!(errors));
            if let Some(effect) = effect {
                extensions = extensions.add("x-effect", json!(effect));
            }
            operation.extensions = Some(extensions.build());
        }
    }
    let document = crate::document([description]).expect("a document");
    let published: Value = serde_json::from_str(include_str!("../../openapi.json")).expect("JSON");
    for part in ["/paths", "/components/schemas"] {
        for (name, value) in document.pointer(part).and_then(Value::as_object).into_iter().flatten() {
            let published = &published.pointer(part).expect("a part")[name];
            for (name, value) in value.as_object().into_iter().flatten() {
                assert_eq!(&published[name], value, "openapi.json differs at {name}");
            }
        }
    }
}
