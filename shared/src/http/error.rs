use std::{error::Error, fmt, time::SystemTimeError};

use lambda_http::http::{
    HeaderName, HeaderValue, StatusCode,
    header::{self, InvalidHeaderValue},
    status::InvalidStatusCode,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::rate_limit::RateLimit;
use crate::model::Amount;

/// An error answer, and apart from it the cause for the log. A `From` says which answer an error becomes.
pub struct ApiError {
    status: StatusCode,
    message: Box<str>,
    errors: Box<[FieldError]>,
    missing: Box<[Missing]>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Further fields of the body.
    details: Map<String, Value>,
    /// Whether a part of what was asked is done, or may still be.
    is_begun: bool,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// One wrong field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Dotted path of the field, such as `moment.collectionAddress`.
    #[schema(examples("moment.collectionAddress"))]
    pub field: String,
    /// Reads on after the field's name.
    #[schema(examples("is required"))]
    pub message: String,
}

/// What an account lacks in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// The currency's symbol.
    #[schema(examples("ETH"))]
    pub currency: &'static str,
    /// In the smallest unit.
    pub amount: Amount,
    /// In the main unit.
    #[schema(examples("0.000111"))]
    pub decimal_amount: String,
    /// What the account has, in the smallest unit.
    pub balance: Amount,
}

/// Body of every error response.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody<'a> {
    status: ErrorStatus,
    /// Reason and remedy.
    message: &'a str,
    /// The wrong fields, each of them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    errors: &'a [FieldError],
    /// What the account lacks.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    missing: &'a [Missing],
    #[serde(flatten)]
    details: &'a Map<String, Value>,
}

/// Marks an error.
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
            message: message.into().into(),
            errors: Box::default(),
            missing: Box::default(),
            headers: Vec::new(),
            details: Map::new(),
            is_begun: false,
            cause: None,
        }
    }

    /// 400 for the request as a whole.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 400 for missing or wrong fields. The message has the first one, for whoever reads nothing else.
    pub fn invalid_fields(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [] => "Invalid input".to_owned(),
            [FieldError { field, message }] => format!("{field} {message}"),
            [FieldError { field, message }, others @ ..] => {
                format!("{field} {message} (and {} more: see errors)", others.len())
            }
        };
        Self { errors: errors.into(), ..Self::bad_request(message) }
    }

    /// 401: no credential, or a wrong, expired or revoked one.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"moments\""))
    }

    /// 401: a token that is wrong, expired or signed out (RFC 6750, 3.1).
    pub fn invalid_token(message: impl Into<String>) -> Self {
        let challenge = HeaderValue::from_static("Bearer realm=\"moments\", error=\"invalid_token\"");
        Self::new(StatusCode::UNAUTHORIZED, message).with_header(header::WWW_AUTHENTICATE, challenge)
    }

    /// 401: the sign-in is longer ago than 15 minutes, was without the artist's passkey, or by what was added today
    /// (RFC 9470).
    pub fn stale_sign_in() -> Self {
        const CHALLENGE: &str = "Bearer error=\"insufficient_user_authentication\", max_age=\"900\"";
        let words = "This takes a sign-in of the last 15 minutes, with a passkey if you have one, and not with a wallet or \
                     passkey that was added today, or a wallet that was connected without a proof: sign in again";
        Self::new(StatusCode::UNAUTHORIZED, words)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE))
    }

    /// 401: no API key, or a wrong or revoked one.
    pub fn unauthorized_key(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey realm=\"moments\""))
    }

    /// 401 where a token and an API key are equally good.
    pub fn unauthorized_caller(message: impl Into<String>) -> Self {
        let challenges = HeaderValue::from_static("Bearer realm=\"moments\", ApiKey realm=\"moments\"");
        Self::new(StatusCode::UNAUTHORIZED, message).with_header(header::WWW_AUTHENTICATE, challenges)
    }

    /// 402: the account's balance is too low by what is missing, as far as that is known.
    pub fn payment_required(message: impl Into<String>, missing: Vec<Missing>) -> Self {
        Self { missing: missing.into(), ..Self::new(StatusCode::PAYMENT_REQUIRED, message) }
    }

    /// 403: the caller lacks a permission.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// 405 with the allowed methods.
    pub fn method_not_allowed(allowed: &str) -> Self {
        let error = Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("This path answers to {allowed}"));
        match HeaderValue::from_str(allowed) {
            Ok(allowed) => error.with_header(header::ALLOW, allowed),
            Err(_) => error,
        }
    }

    /// 409: the current state doesn't allow it.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// 409: the first request with this key still runs; its answer is due in `retry_after` seconds.
    pub fn in_progress(message: impl Into<String>, retry_after: u64) -> Self {
        Self::conflict(message).retry_after(retry_after)
    }

    /// 410: the resource existed and no longer does.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, message)
    }

    /// 451: it was taken away, by right or by the operator.
    pub fn removed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS, message)
    }

    /// 422: the request is valid and can't be carried out.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 413.
    pub fn payload_too_large(max_bytes: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("The body must be at most {max_bytes} bytes long"))
    }

    /// 415.
    pub fn unsupported_media_type() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send the body as JSON, with Content-Type: application/json")
    }

    /// 429: the limit is used up.
    pub fn limited(message: impl Into<String>, limit: &RateLimit) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, message).retry_after(limit.reset_seconds());
        limit.headers().fold(error, |error, (name, value)| error.with_header(name, value))
    }

    /// 429 that isn't of a counted limit.
    pub fn too_many(message: impl Into<String>, retry_after: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, message).retry_after(retry_after)
    }

    /// 400 for one field.
    pub fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_fields(vec![FieldError { field: field.into(), message: message.into() }])
    }

    /// 500: the client doesn't see the cause.
    pub fn internal(cause: impl Error + Send + Sync + 'static) -> Self {
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side");
        Self { cause: Some(Box::new(cause)), ..error }
    }

    /// 502: another service failed.
    pub fn bad_gateway(message: impl Into<String>, cause: impl Error + Send + Sync + 'static) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(StatusCode::BAD_GATEWAY, message) }.retry_after(1)
    }

    /// 503: out of capacity; a retry makes sense in `retry_after` seconds.
    pub fn unavailable(
        message: impl Into<String>,
        retry_after: u64,
        cause: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
            .retry_after(retry_after)
    }

    /// 503: the request's deadline passed before its answer.
    pub fn late() -> Self {
        const WORDS: &str = "That took too long. Try again: with the same Idempotency-Key nothing is done twice";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, WORDS).retry_after(1)
    }

    /// The same, with this error as its cause.
    pub(super) fn into_late(self) -> Self {
        Self { cause: self.cause, ..Self::late() }
    }

    /// Adds a header, unless its value isn't visible text.
    pub fn with(self, name: &'static str, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(value) => self.with_header(HeaderName::from_static(name), value),
            Err(_) => self,
        }
    }

    /// Adds a field to the body.
    #[must_use]
    pub fn with_detail(mut self, name: &'static str, value: Value) -> Self {
        self.details.insert(name.to_owned(), value);
        self
    }

    /// Adds what was done before the error, as the body's field `name`, and advice for the rest; and whether anything is done
    /// or may still be.
    pub fn in_part(mut self, advice: &str, name: &'static str, done: Value, is_begun: bool) -> Self {
        self.message = format!("{}. {advice}", self.message).into();
        self.details.insert(name.to_owned(), done);
        Self { is_begun, ..self }
    }

    /// Whether a part of what was asked is done, or may still be.
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Reason and remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What another part of the function refused, in its words.
    pub fn refused(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, message)
    }

    /// The wrong fields.
    pub fn fields(&self) -> &[FieldError] {
        &self.errors
    }

    /// Status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The cause, unless the client is at fault.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.cause.as_deref()
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// JSON body.
    pub fn body(&self) -> String {
        let Self { message, errors, missing, details, .. } = self;
        let body = ErrorBody { status: ErrorStatus::Error, message, errors, missing, details };
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

macro_rules! internal {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::internal(error)
            }
        }
    )+};
}

internal!(
    serde_json::Error,
    InvalidHeaderValue,
    InvalidStatusCode,
    SystemTimeError,
    time::Error,
    getrandom::Error,
    url::ParseError
);

/// For tests and logs; clients never see it.
impl fmt::Debug for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {:?}", self.status, self.body(), self.cause)
    }
}
