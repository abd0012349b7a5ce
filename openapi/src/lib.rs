//! Makes the published API description, `openapi.json`, of the resources' contracts. What the endpoints have in common is
//! here: the document's frame, and the headers and errors that follow from an endpoint's inputs.
//!
//! `tests/contract.rs` compares the published document with it; with `OPENAPI=write`, as in `make openapi`, it writes it.
#![warn(missing_docs)]

mod document;
mod endpoint;
mod errors;
mod example;
mod frame;
mod hold;
mod names;
mod polish;
mod webhooks;

pub use document::{DocumentError, document};
pub use hold::hold;

/// Makes the test that compares `openapi.json` with the description of an endpoint.
#[macro_export]
macro_rules! published {
    ($endpoint:ident $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, None $(, $status)*);
    };
    ($endpoint:ident writes $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, Some("write") $(, $status)*);
    };
    ($endpoint:ident pays $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, Some("payment") $(, $status)*);
    };
    (@ $endpoint:ident, $effect:expr $(, $status:literal)*) => {
        mod $endpoint {
            use super::*;

            #[derive(utoipa::OpenApi)]
            #[openapi(paths($endpoint))]
            struct Description;

            #[test]
            fn is_as_published() {
                super::$endpoint();
                $crate::hold(<Description as utoipa::OpenApi>::openapi(), $effect, &[$($status),*]);
            }
        }
    };
}
