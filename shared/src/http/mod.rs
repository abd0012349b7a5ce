//! The one place that parses a request and the one that answers it. An endpoint implements [`Endpoint`] and its `main`
//! is [`serve`].

mod error;
mod fields;
mod idempotency;
mod publication;
pub mod publication_form;
mod rate_limit;
mod request;
mod response;
mod serve;

pub use error::{ApiError, ErrorBody, FieldError};
pub use fields::Fields;
pub use idempotency::IdempotencyKey;
pub use lambda_http::http::StatusCode;
pub use publication::MAX_MOMENTS_BYTES;
pub use rate_limit::{LimitUnit, RateLimit};
pub use request::Request;
pub use response::Response;
pub use serve::{Endpoint, StartError, serve};
