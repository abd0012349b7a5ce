//! An invocation and its results.

use bytes::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

/// Largest request and response of a synchronous invocation, in bytes.
pub const MAX_PAYLOAD: usize = 6 << 20;

/// Largest event of an asynchronous invocation, in bytes.
pub const MAX_EVENT: usize = 1 << 20;

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The function's name.
    pub function: String,
    /// Id that its logs carry.
    pub request_id: String,
    /// The event, as JSON.
    pub payload: Bytes,
    /// X-Ray header: `Root=…;Parent=…;Sampled=…`.
    pub trace_id: String,
    /// Client context, as JSON.
    pub client_context: Option<String>,
}

impl Invocation {
    /// A call with new ids.
    pub fn new(function: &str, payload: impl Into<Bytes>) -> Self {
        Self {
            function: function.to_owned(),
            request_id: Uuid::new_v4().to_string(),
            payload: payload.into(),
            trace_id: new_trace_id(),
            client_context: None,
        }
    }
}

/// A new X-Ray trace: `Root=1-<seconds>-<random>;Parent=<random>;Sampled=0`.
pub(crate) fn new_trace_id() -> String {
    let random = Uuid::new_v4().simple().to_string();
    let (root, _) = random.split_at(24);
    let (parent, _) = random.split_at(16);
    format!("Root=1-{:08x}-{root};Parent={parent};Sampled=0", OffsetDateTime::now_utc().unix_timestamp())
}

/// What a function that ran returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its response.
    Returned(Bytes),
    /// Its error, as JSON with `errorType` and `errorMessage`: its own, or Lambda's for a crash, a time-out or a
    /// response that is too large.
    Failed(Bytes),
}

impl Outcome {
    pub(crate) fn failed(r#type: &str, message: &str) -> Self {
        Self::Failed(json!({"errorType": r#type, "errorMessage": message}).to_string().into())
    }
}

/// Why a function was not run. Its texts are Lambda's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No function of this name.
    #[error("Function not found: {0}")]
    UnknownFunction(String),
    /// As many invocations as the function's reserved concurrency allows are running.
    #[error("Rate Exceeded.")]
    ReservedConcurrency,
    /// As many invocations as the account's concurrency allows are running.
    #[error("Rate Exceeded.")]
    AccountConcurrency,
    /// The payload has more bytes than allowed.
    #[error("Request must be smaller than {0} bytes for the InvokeFunction operation")]
    TooLarge(usize),
    /// The payload isn't JSON.
    #[error("Could not parse request body into json: {0}")]
    NotJson(String),
    /// The service ends, or could not be reached.
    #[error("Service Unavailable")]
    Unavailable,
}

impl Refusal {
    /// HTTP status and error type of the Invoke API.
    pub fn code(&self) -> (u16, &'static str) {
        match self {
            Self::UnknownFunction(_) => (404, "ResourceNotFoundException"),
            Self::ReservedConcurrency | Self::AccountConcurrency => (429, "TooManyRequestsException"),
            Self::TooLarge(_) => (413, "RequestTooLargeException"),
            Self::NotJson(_) => (400, "InvalidRequestContentException"),
            Self::Unavailable => (503, "ServiceException"),
        }
    }

    /// Body of the Invoke API's answer.
    pub(crate) fn body(&self) -> Value {
        let message = self.to_string();
        match self {
            Self::UnknownFunction(_) => json!({"Type": "User", "Message": message}),
            Self::ReservedConcurrency => {
                json!({"Reason": "ReservedFunctionConcurrentInvocationLimitExceeded", "Type": "User", "message": message})
            }
            Self::AccountConcurrency => {
                json!({"Reason": "ConcurrentInvocationLimitExceeded", "Type": "User", "message": message})
            }
            Self::TooLarge(_) | Self::NotJson(_) => json!({"Type": "User", "message": message}),
            Self::Unavailable => json!({"Type": "Service", "message": message}),
        }
    }
}
