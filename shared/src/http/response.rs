use lambda_http::{
    Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use serde::Serialize;

use super::{ApiError, RateLimit, Request};

/// An answer to a request.
pub struct Response(lambda_http::Response<Body>);

impl Response {
    /// 200 with `body` as JSON. Nothing on the way may keep it, unless [`Response::cacheable`] says so.
    ///
    /// # Errors
    /// When the body can't be written as JSON, which is a fault of ours.
    pub fn json(body: &impl Serialize) -> Result<Self, ApiError> {
        Ok(Self::new(StatusCode::OK, serde_json::to_string(body)?))
    }

    /// A JSON body that is written already.
    ///
    /// # Errors
    /// When there is no such status, which is a fault of ours.
    pub fn stored(status: u16, body: String) -> Result<Self, ApiError> {
        Ok(Self::new(StatusCode::from_u16(status)?, body))
    }

    /// 200 with a body of this type, which the media type's charset must fit.
    pub fn file(content_type: &'static str, content: &[u8]) -> Self {
        let mut response = Self::new(StatusCode::OK, String::new());
        *response.0.body_mut() = match std::str::from_utf8(content) {
            Ok(text) => Body::from(text),
            Err(_) => Body::from(content),
        };
        response.with_header(header::CONTENT_TYPE, HeaderValue::from_static(content_type))
    }

    /// Adds a header.
    ///
    /// # Errors
    /// When the value can't stand in a header, which is a fault of ours.
    pub fn with(self, name: &'static str, value: &str) -> Result<Self, ApiError> {
        Ok(self.with_header(HeaderName::from_static(name), HeaderValue::from_str(value)?))
    }

    /// Names the version of the body (RFC 9110, 8.8.3). To a client that has it already the answer is 304, without the
    /// body.
    ///
    /// # Errors
    /// When the tag can't stand in a header, which is a fault of ours.
    pub fn tagged(mut self, tag: &str, request: &Request) -> Result<Self, ApiError> {
        let known = request.header(header::IF_NONE_MATCH.as_str()).unwrap_or_default();
        let mut known = known.split(',').map(|known| known.trim().trim_start_matches("W/"));
        if known.any(|known| known == tag || known == "*") {
            *self.0.status_mut() = StatusCode::NOT_MODIFIED;
            *self.0.body_mut() = Body::Empty;
            self.0.headers_mut().remove(header::CONTENT_ENCODING);
        }
        Ok(self.with_header(header::ETAG, HeaderValue::from_str(tag)?))
    }

    /// Says that this is what an earlier request with the same idempotency key was answered.
    pub fn replayed(self) -> Self {
        self.with_header(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"))
    }

    /// Lets anyone keep the answer for `seconds`.
    pub fn cacheable(self, seconds: u32) -> Self {
        match HeaderValue::from_str(&format!("public, max-age={seconds}")) {
            Ok(value) => self.with_header(header::CACHE_CONTROL, value),
            Err(_) => self,
        }
    }

    /// Says how far the limit on such requests is used up.
    pub fn limited(self, limit: &RateLimit) -> Self {
        limit.headers().fold(self, |response, (name, value)| response.with_header(name, value))
    }

    /// Points to the next page (RFC 8288): the same path with another query.
    ///
    /// # Errors
    /// When the query can't stand in a header, which is a fault of ours.
    pub fn next_page(self, query: &str) -> Result<Self, ApiError> {
        let link = HeaderValue::from_str(&format!("<?{query}>; rel=\"next\""))?;
        Ok(self.with_header(header::LINK, link))
    }

    pub(super) fn from_error(error: &ApiError) -> Self {
        let response = Self::new(error.status(), error.body());
        error
            .headers()
            .iter()
            .fold(response, |response, (name, value)| response.with_header(name.clone(), value.clone()))
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers_mut().insert(name, value);
        self
    }

    pub(super) fn status(&self) -> StatusCode {
        self.0.status()
    }

    pub(super) fn into_inner(self) -> lambda_http::Response<Body> {
        self.0
    }

    fn new(status: StatusCode, body: String) -> Self {
        let mut response = lambda_http::Response::new(Body::from(body));
        *response.status_mut() = status;
        Self(response)
            .with_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))
            .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }
}
