//! The published API description, `openapi.json`. Each function describes its endpoint beside its types, and a test made by
//! [`published!`] compares both. Common parts are here: the document's frame, and the headers and errors that follow from an
//! endpoint's inputs.
//!
//! With `OPENAPI=write`, as in `make openapi`, the same tests write the document.
#![warn(missing_docs)]

mod document;
mod endpoint;
mod example;
mod frame;
mod polish;
mod webhooks;

pub use document::{document, hold};
pub use endpoint::Effect;
pub use frame::frame;

/// Makes the test that compares `openapi.json` with the description of an endpoint, a function with `#[utoipa::path(…)]`.
/// After its name come the endpoint's error statuses, except those that follow from its inputs: 400 and 500, 401 with a
/// credential, 413 and 415 with a body. An endpoint that `writes` to a chain has `Idempotency-Key` and every status of a
/// write but 404; one that `pays` requires the key.
///
/// ```ignore
/// openapi::published!(list_comments);
/// openapi::published!(send_code, 429, 502);
/// openapi::published!(update_sale writes, 404);
/// ```
#[macro_export]
macro_rules! published {
    ($endpoint:ident $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, $crate::Effect::Nothing $(, $status)*);
    };
    ($endpoint:ident writes $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, $crate::Effect::Write $(, $status)*);
    };
    ($endpoint:ident pays $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, $crate::Effect::Payment $(, $status)*);
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
                $crate::hold(&<Description as utoipa::OpenApi>::openapi(), $effect, &[$($status),*]);
            }
        }
    };
}
