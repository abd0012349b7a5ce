//! CORS as an HTTP API answers it.

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
        ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
        ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    },
};

use crate::server::Reply;

/// CORS settings of an HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cors {
    /// Allowed origins, or `*`.
    pub allow_origins: Vec<String>,
    /// Allowed methods.
    pub allow_methods: Vec<String>,
    /// Allowed request headers.
    pub allow_headers: Vec<String>,
    /// Response headers that pages may read.
    pub expose_headers: Vec<String>,
    /// Seconds that a browser may cache a preflight.
    pub max_age: u64,
}

/// Headers that only the gateway may set where CORS is configured.
const OWN: [HeaderName; 6] = [
    ACCESS_CONTROL_ALLOW_CREDENTIALS,
    ACCESS_CONTROL_ALLOW_HEADERS,
    ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
    ACCESS_CONTROL_MAX_AGE,
];

impl Cors {
    /// The answer to a preflight, for which no route is asked; `None` for other requests.
    pub(super) fn preflight<B>(&self, request: &Request<B>) -> Option<Reply> {
        let headers = request.headers();
        let is_preflight = request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let origin = headers.get(ORIGIN).filter(|_| is_preflight)?;
        let mut reply = Response::new(Full::default());
        *reply.status_mut() = StatusCode::NO_CONTENT;
        if self.allowed(origin).is_some() {
            let headers = reply.headers_mut();
            set(headers, ACCESS_CONTROL_ALLOW_METHODS, &self.allow_methods.join(","));
            set(headers, ACCESS_CONTROL_ALLOW_HEADERS, &self.allow_headers.join(","));
            set(headers, ACCESS_CONTROL_MAX_AGE, &self.max_age.to_string());
        }
        Some(reply)
    }

    /// Removes what a function says of CORS: only the settings count.
    pub(super) fn strip(headers: &mut HeaderMap) {
        for name in &OWN {
            headers.remove(name);
        }
    }

    /// Sets the headers of any answer to a page.
    pub(super) fn apply(&self, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
        let allowed = origin.and_then(|origin| self.allowed(origin));
        if let Some(allowed) = allowed {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
            set(headers, ACCESS_CONTROL_EXPOSE_HEADERS, &self.expose_headers.join(","));
        }
    }

    /// The `Access-Control-Allow-Origin` value for this origin; `None` if its pages may not read the response.
    fn allowed(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        if self.allow_origins.iter().any(|allowed| allowed == "*") {
            return Some(HeaderValue::from_static("*"));
        }
        self.allow_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
