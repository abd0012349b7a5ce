use std::{error::Error, fmt};

use lambda_http::http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::RateLimit;

/// Every way in which a request can fail: what the client is told and, apart from it, the cause that only the log sees.
///
/// Any error converts into it with `?` and is then a plain 500. One that a client can do something about is made by
/// the constructor that names it.
pub struct ApiError {
    status: StatusCode,
    message: String,
    errors: Vec<FieldError>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// What the body says besides.
    details: Map<String, Value>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// What is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Dotted path of the field, such as `moment.collectionAddress`.
    #[schema(examples("moment.collectionAddress"))]
    pub field: String,
    /// What is wrong, worded to follow the field's name.
    #[schema(examples("is required"))]
    pub message: String,
}

/// The body of every error response.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody<'a> {
    status: ErrorStatus,
    /// What went wrong, and what to do about it.
    message: &'a str,
    /// What is wrong with each field.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    errors: &'a [FieldError],
    #[serde(flatten)]
    details: &'a Map<String, Value>,
}

/// How an error is told from an answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ErrorStatus)]
enum ErrorStatus {
    Error,
}

impl ApiError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            errors: Vec::new(),
            headers: Vec::new(),
            details: Map::new(),
            cause: None,
        }
    }

    /// 400: the request as a whole can't be read.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 400: these fields are missing or wrong.
    pub fn invalid_fields(errors: Vec<FieldError>) -> Self {
        Self { errors, ..Self::bad_request("Invalid input: see errors") }
    }

    /// 401: no credential, or a wrong, expired or revoked one.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"moments\""))
    }

    /// 401: no API key, or a wrong or revoked one.
    pub fn unauthorized_key(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey realm=\"moments\""))
    }

    /// 401: neither a token nor an API key, where either will do.
    pub fn unauthorized_caller(message: impl Into<String>) -> Self {
        let challenges = HeaderValue::from_static("Bearer realm=\"moments\", ApiKey realm=\"moments\"");
        Self::new(StatusCode::UNAUTHORIZED, message).with_header(header::WWW_AUTHENTICATE, challenges)
    }

    /// 402: the caller's account hasn't the money.
    pub fn payment_required(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYMENT_REQUIRED, message)
    }

    /// 403: the caller is known and may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404: nothing is there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// 405: the path exists, with these methods.
    pub fn method_not_allowed(allowed: &str) -> Self {
        let error = Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("This path answers to {allowed}"));
        match HeaderValue::from_str(allowed) {
            Ok(allowed) => error.with_header(header::ALLOW, allowed),
            Err(_) => error,
        }
    }

    /// 409: the request is right, but not in the state that things are in.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// 409: the same request is being answered; the answer can be had in `retry_after` seconds.
    pub fn in_progress(message: impl Into<String>, retry_after: u64) -> Self {
        Self::conflict(message).retry_after(retry_after)
    }

    /// 422: the request can be read and can't be done.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 413: the body is longer than `max_bytes`.
    pub fn payload_too_large(max_bytes: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("The body must be at most {max_bytes} bytes long"))
    }

    /// 415: the body isn't JSON.
    pub fn unsupported_media_type() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send the body as JSON, with Content-Type: application/json")
    }

    /// 429: this limit is used up.
    pub fn limited(message: impl Into<String>, limit: &RateLimit) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, message).retry_after(limit.reset_seconds());
        limit.headers().fold(error, |error, (name, value)| error.with_header(name, value))
    }

    /// 502: a service that ours stands on failed.
    pub fn bad_gateway(message: impl Into<String>, cause: impl Error + Send + Sync + 'static) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(StatusCode::BAD_GATEWAY, message) }.retry_after(1)
    }

    /// 503: the service, or one that it stands on, can't do more now; it may in `retry_after` seconds.
    pub fn unavailable(
        message: impl Into<String>,
        retry_after: u64,
        cause: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
            .retry_after(retry_after)
    }

    /// The same for a request of which a part was done: `advice` is what to do now, and the body says what was done under
    /// `name`.
    pub fn in_part(mut self, advice: &str, name: &'static str, done: Value) -> Self {
        self.message = format!("{}. {advice}", self.message);
        self.details.insert(name.to_owned(), done);
        self
    }

    /// The status that the client gets.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// What went wrong inside, if the fault isn't the client's.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.cause.as_deref()
    }

    /// Headers that belong to this error.
    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// The JSON body.
    pub fn body(&self) -> String {
        let Self { message, errors, details, .. } = self;
        let body = ErrorBody { status: ErrorStatus::Error, message, errors, details };
        serde_json::to_string(&body).unwrap_or_default()
    }

    fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    fn retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ApiError {
    fn from(cause: E) -> Self {
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side");
        Self { cause: Some(Box::new(cause)), ..error }
    }
}

/// For tests and logs: never sent to a client.
impl fmt::Debug for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {:?}", self.status, self.body(), self.cause)
    }
}
