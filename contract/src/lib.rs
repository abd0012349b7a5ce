//! The published contract, `openapi.json`. Each function describes its own endpoint beside its types; a test of the
//! function's, made by [`published!`], holds the document equal to that description. What all endpoints have in common
//! is here: the frame of the document, and the headers and errors that follow from what an endpoint takes.
//!
//! With `CONTRACT=write` the same tests write the document: `make contract`.
#![warn(missing_docs)]

mod document;
mod endpoint;
mod frame;

pub use document::{document, hold};
pub use endpoint::Effect;
pub use frame::frame;

/// Makes the test that holds `openapi.json` equal to the description of an endpoint, a function with
/// `#[utoipa::path(…)]`. After its name come the statuses that the endpoint fails with, beyond those that follow from what
/// it takes: 400 and 500, 401 with a credential, 413 and 415 with a body. An endpoint that `writes` to a chain has
/// `Idempotency-Key` and every status of a write, so that only 404 is left to name.
///
/// ```ignore
/// contract::published!(list_comments);
/// contract::published!(send_code, 429, 502);
/// contract::published!(update_sale writes, 404);
/// ```
#[macro_export]
macro_rules! published {
    ($endpoint:ident $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, $crate::Effect::Nothing $(, $status)*);
    };
    ($endpoint:ident writes $(, $status:literal)*) => {
        $crate::published!(@ $endpoint, $crate::Effect::Write $(, $status)*);
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
