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
            trace_id: trace_id(None),
            client_context: None,
        }
    }
}

/// X-Ray header of a new segment: `Root=1-<seconds>-<random>;Parent=<random>;Sampled=0`, with the root and the sampling
/// of the caller's header, if there is one.
pub(crate) fn trace_id(given: Option<&str>) -> String {
    let field = |name| given?.split(';').find_map(|part| part.trim().strip_prefix(name));
    let random = Uuid::new_v4().simple().to_string();
    let (parent, root) = (&random[..16], &random[8..]);
    let is_root = |root: &&str| root.starts_with("1-") && root.bytes().all(|c| c == b'-' || c.is_ascii_hexdigit());
    let root = field("Root=")
        .filter(is_root)
        .map_or_else(|| format!("1-{:08x}-{root}", OffsetDateTime::now_utc().unix_timestamp()), str::to_owned);
    let sampled = u8::from(field("Sampled=") == Some("1"));
    format!("Root={root};Parent={parent};Sampled={sampled}")
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

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn a_given_root_and_its_sampling_are_kept_under_a_new_parent() {
        let root = "Root=1-5759e988-bd862e3fe1be46a994272793";
        let given = trace_id(Some(&format!("{root};Parent=53995c3f42cd8ad8;Sampled=1")));
        assert!(given.starts_with(&format!("{root};Parent=")) && given.ends_with(";Sampled=1"), "{given}");
        assert!(!given.contains("53995c3f42cd8ad8"), "{given}");
        assert!(trace_id(Some(root)).ends_with(";Sampled=0"));
        for given in [None, Some("Root=x;Sampled=0"), Some("")] {
            let new = trace_id(given);
            assert_eq!(new.len(), root.len() + ";Parent=53995c3f42cd8ad8;Sampled=1".len(), "{new}");
        }
    }
}
