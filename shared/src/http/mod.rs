//! Parsing requests and answering them: an endpoint implements [`Endpoint`], its requests derive [`FromFields`].

mod answer_log;
mod error;
mod fields;
mod idempotency;
mod input;
mod origin;
mod rate_limit;
mod request;
mod response;
mod scalar;
mod serve;

pub use answer_log::{AnswerLog, Answered};
pub use error::{ApiError, ErrorBody, FieldError, Missing};
pub use fields::{AllowedChains, AnyChain, Field, Fields, FromField, FromFields};
pub use idempotency::IdempotencyKey;
pub use input::Input;
pub use lambda_http::http::{HeaderMap, Method, StatusCode};
pub use rate_limit::{LimitUnit, RateLimit};
pub use request::{MAX_BODY, MAX_LARGE_BODY, Principal, Request};
pub use response::Response;
pub use scalar::{Form, Scalar};
pub use serde_json::json;
pub use serve::{Endpoint, serve};
pub use shared_derive::FromFields;
