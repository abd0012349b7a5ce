use lambda_http::{
    Body,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{error::ApiError, rate_limit::RateLimit, request::Request};
use crate::model::{Page, PageStart, Until};

const NO_STORE: &str = "no-store";

/// An answer.
pub struct Response(lambda_http::Response<Body>);

impl Response {
    /// 200 with `body` as JSON, not cacheable.
    pub fn json(body: &impl Serialize) -> Result<Self, ApiError> {
        Ok(Self::new(StatusCode::OK, serde_json::to_string(body)?))
    }

    /// A status and a serialised JSON body.
    pub fn stored(status: u16, body: String) -> Result<Self, ApiError> {
        Ok(Self::new(StatusCode::from_u16(status)?, body))
    }

    /// 200 with a file; its content must fit the charset of `content_type`.
    pub fn file(content_type: &'static str, content: &[u8]) -> Self {
        let mut response = Self::new(StatusCode::OK, String::new());
        *response.0.body_mut() = match std::str::from_utf8(content) {
            Ok(text) => Body::from(text),
            Err(_) => Body::from(content),
        };
        response.with_header(header::CONTENT_TYPE, HeaderValue::from_static(content_type))
    }

    /// A part of a file, or all of it, as bytes that nothing re-encodes.
    pub fn bytes(status: StatusCode, content_type: &str, content: Vec<u8>) -> Result<Self, ApiError> {
        let mut response = Self::new(status, String::new());
        *response.0.body_mut() = Body::Binary(content);
        Ok(response.with_header(header::CONTENT_TYPE, HeaderValue::from_str(content_type)?))
    }

    /// Another answer of this API, passed on.
    pub fn passed_on(status: StatusCode, headers: &HeaderMap, content: Vec<u8>) -> Self {
        /// Of one connection, or made for each answer.
        const OWN: [&str; 7] = [
            "apigw-requestid",
            "connection",
            "content-length",
            "date",
            "keep-alive",
            "transfer-encoding",
            "x-request-id",
        ];
        let mut response = lambda_http::Response::new(Body::Binary(content));
        *response.status_mut() = status;
        let passed = headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        response.headers_mut().extend(passed.map(|(name, value)| (name.clone(), value.clone())));
        Self(response)
    }

    /// The same with another status.
    pub fn with_status(mut self, status: u16) -> Result<Self, ApiError> {
        *self.0.status_mut() = StatusCode::from_u16(status)?;
        Ok(self)
    }

    /// Adds a header.
    pub fn with(self, name: &'static str, value: &str) -> Result<Self, ApiError> {
        Ok(self.with_header(HeaderName::from_static(name), HeaderValue::from_str(value)?))
    }

    /// 308 to another address on the same host, kept for an hour.
    pub fn moved(address: &str) -> Result<Self, ApiError> {
        Self::new(StatusCode::PERMANENT_REDIRECT, String::new()).cacheable(60 * 60).with("location", address)
    }

    /// 302 to another address.
    pub fn found(address: &str) -> Result<Self, ApiError> {
        Self::new(StatusCode::FOUND, String::new()).with("location", address)
    }

    /// Marks the repeated answer to an earlier request with the same idempotency key.
    pub fn replayed(self) -> Self {
        self.with_header(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"))
    }

    /// 200 with `body` as JSON, cacheable by anyone for 5 seconds.
    pub fn public(body: &impl Serialize) -> Result<Self, ApiError> {
        const SECONDS_TO_KEEP: u32 = 5;
        Ok(Self::json(body)?.cacheable(SECONDS_TO_KEEP))
    }

    /// Makes it cacheable by anyone for `seconds`, and with its `ETag` revalidatable after that. Caches may give it out twice
    /// as long while they ask for a newer one, and for a day while there is none to be had; with 0 seconds never unasked.
    pub fn cacheable(self, seconds: u32) -> Self {
        const OUTAGE: u32 = 24 * 60 * 60;
        let control = match seconds {
            0 => "public, max-age=0".to_owned(),
            _ => format!("public, max-age={seconds}, stale-while-revalidate={}, stale-if-error={OUTAGE}", 2 * seconds),
        };
        match HeaderValue::from_str(&control) {
            Ok(value) => self.with_header(header::CACHE_CONTROL, value),
            Err(_) => self,
        }
    }

    /// 200 with a page as JSON, cacheable by anyone: for 5 seconds or, if its start is fixed, for a minute, since then only what
    /// is told of its rows changes. Links to the page after it if there is one, which begins at `next`.
    pub fn page(
        body: &impl Serialize,
        request: &Request,
        start: &PageStart,
        next: Option<Until>,
    ) -> Result<Self, ApiError> {
        const SECONDS_TO_KEEP_FIXED: u32 = 60;
        let response = Self::public(body)?;
        let response = if start.until.is_some() { response.cacheable(SECONDS_TO_KEEP_FIXED) } else { response };
        match start.page.number.get().checked_add(1).zip(next) {
            Some((number, next)) => {
                response.linking_to(request, &[("page", number.to_string()), ("until", next.to_string())])
            }
            None => Ok(response),
        }
    }

    /// Links to the next page (RFC 8288): the same request with another value for its parameter `name`.
    pub fn with_next(self, request: &Request, name: &str, value: impl ToString) -> Result<Self, ApiError> {
        self.linking_to(request, &[(name, value.to_string())])
    }

    fn linking_to(self, request: &Request, parameters: &[(&str, String)]) -> Result<Self, ApiError> {
        let query = request.query_with(parameters);
        let link = HeaderValue::from_str(&format!("<?{query}>; rel=\"next\""))?;
        Ok(self.with_header(header::LINK, link))
    }

    /// Links to the page after `page`, if there is `more`.
    pub fn with_next_page(self, request: &Request, page: Page, more: bool) -> Result<Self, ApiError> {
        match page.number.get().checked_add(1).filter(|_| more) {
            Some(next) => self.with_next(request, "page", next),
            None => Ok(self),
        }
    }

    /// The same where `page` has fewer rows than were asked for.
    pub fn with_next_smaller(self, request: &Request, page: Page, more: bool) -> Result<Self, ApiError> {
        match page.number.get().checked_add(1).filter(|_| more) {
            Some(next) => {
                let parameters = [("page", next.to_string()), ("limit", page.limit.get().to_string())];
                self.linking_to(request, &parameters)
            }
            None => Ok(self),
        }
    }

    /// Gives a cacheable answer a weak `ETag`; 304 without a body if the client has it (RFC 9110, 13.1.2).
    pub(super) fn revalidated(self, request: &Request) -> Self {
        let kept = self.0.headers().get(header::CACHE_CONTROL).is_some_and(|value| value != NO_STORE);
        let keepable = kept && self.status() == StatusCode::OK;
        let body: &[u8] = self.0.body().as_ref();
        let tag = format!("\"{}\"", alloy::hex::encode(&Sha256::digest(body)[..16]));
        let Some(weak) = HeaderValue::from_str(&format!("W/{tag}")).ok().filter(|_| keepable) else { return self };
        let known = request.header(header::IF_NONE_MATCH.as_str()).unwrap_or_default();
        let mut known = known.split(',').map(str::trim);
        let unchanged = known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag);
        let mut response = self.with_header(header::ETAG, weak);
        if unchanged {
            *response.0.status_mut() = StatusCode::NOT_MODIFIED;
            *response.0.body_mut() = Body::Empty;
            response.0.headers_mut().remove(header::CONTENT_TYPE);
        }
        response
    }

    /// Adds what browsers need to be told with every answer: no guessing of types, and TLS alone from now on; and, unless the
    /// answer says otherwise, to load nothing for it, to show it in no frame and to name it to nobody.
    pub(super) fn hardened(self) -> Self {
        let headers = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::STRICT_TRANSPORT_SECURITY, "max-age=63072000; includeSubDomains"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
            (header::REFERRER_POLICY, "no-referrer"),
        ];
        headers.into_iter().fold(self, |mut response, (name, value)| {
            response.0.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
            response
        })
    }

    /// Opens a read without a credential to pages of any origin: whoever may open it may read it. Where origins are
    /// configured, the gateway decides in its place.
    pub(super) fn open_to_pages(self, request: &Request) -> Self {
        const EXPOSED: &str =
            "etag, link, ratelimit, ratelimit-policy, retry-after, x-ignored-parameters, x-request-id";
        let has_credential = ["authorization", "x-api-key"].iter().any(|name| request.header(name).is_some());
        if has_credential || ![Method::GET, Method::HEAD].contains(request.method()) {
            return self;
        }
        self.with_header(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))
            .with_header(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED))
    }

    /// Adds the limit's headers, unless the answer carries those of the limit that refused it.
    pub(super) fn limited(self, limit: Option<RateLimit>) -> Self {
        if self.0.headers().contains_key("ratelimit") {
            return self;
        }
        let headers = limit.iter().flat_map(RateLimit::headers);
        headers.fold(self, |response, (name, value)| response.with_header(name, value))
    }

    /// Names what was sent and not read, which is most often a mistake.
    pub(super) fn naming_ignored(self, request: &Request) -> Self {
        let names = request.ignored().and_then(|names| HeaderValue::from_str(&names).ok());
        match names {
            Some(names) => self.with_header(HeaderName::from_static("x-ignored-parameters"), names),
            None => self,
        }
    }

    pub(super) fn from_error(error: &ApiError) -> Self {
        let response = Self::new(error.status(), error.body());
        error
            .headers()
            .iter()
            .fold(response, |response, (name, value)| response.with_header(name.clone(), value.clone()))
    }

    /// The same for a person with a browser, who opened an address.
    pub(super) fn page_of_error(error: &ApiError) -> Self {
        let title = error.status().canonical_reason().unwrap_or("Error");
        Self::from_error(error).into_notice(title, error.message())
    }

    /// A page for a person that says one thing.
    pub fn notice(title: &str, message: &str) -> Self {
        Self::new(StatusCode::OK, String::new()).into_notice(title, message)
    }

    fn into_notice(self, title: &str, message: &str) -> Self {
        const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                              frame-ancestors 'none'";
        let page = include_str!("notice.html")
            .replace("{title}", title)
            .replace("{message}", &html_escape::encode_text(message));
        let response = self
            .with_header(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with_header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        Self(response.0.map(|_| Body::from(page)))
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
            .with_header(header::CACHE_CONTROL, HeaderValue::from_static(NO_STORE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(known: &str) -> Request {
        let uri = "https://api.moments.example/api/timeline?artist=a%26b&page=2&x=%0D%0A";
        let event = lambda_http::http::Request::get(uri).header(header::IF_NONE_MATCH, known);
        Request::new(event.body(Body::Empty).unwrap())
    }

    fn header_of(response: &Response, name: header::HeaderName) -> Option<&str> {
        response.0.headers().get(name)?.to_str().ok()
    }

    #[test]
    fn a_body_with_a_known_etag_is_not_sent_again() {
        let control = "public, max-age=5, stale-while-revalidate=10, stale-if-error=86400";
        let answer = |known: &str| Response::public(&["a"]).unwrap().revalidated(&request(known));
        let first = answer("");
        assert_eq!((first.status(), first.0.body().as_ref()), (StatusCode::OK, b"[\"a\"]".as_slice()));
        let tag = header_of(&first, header::ETAG).unwrap();
        assert!(tag.starts_with("W/\""), "{tag}");
        for known in [tag, &tag[2..], "*", &format!("\"other\", {tag}")] {
            let again = answer(known);
            assert_eq!((again.status(), again.0.body().is_empty()), (StatusCode::NOT_MODIFIED, true), "{known}");
            assert_eq!(header_of(&again, header::ETAG), Some(tag));
            assert_eq!(header_of(&again, header::CACHE_CONTROL), Some(control));
            assert_eq!(header_of(&again, header::CONTENT_TYPE), None);
        }
        for known in ["W/\"other\"", tag.trim_matches(['W', '/', '"'])] {
            assert_eq!(answer(known).status(), StatusCode::OK, "{known}");
        }
        assert_ne!(header_of(&Response::public(&["b"]).unwrap().revalidated(&request("")), header::ETAG), Some(tag));
    }

    #[test]
    fn an_uncacheable_answer_has_no_etag() {
        let private = Response::json(&["a"]).unwrap().revalidated(&request("*"));
        let error = Response::from_error(&ApiError::not_found("Nothing")).cacheable(5).revalidated(&request("*"));
        for (response, status) in [(private, StatusCode::OK), (error, StatusCode::NOT_FOUND)] {
            assert_eq!((response.status(), header_of(&response, header::ETAG)), (status, None));
        }
    }

    #[test]
    fn reads_without_a_credential_are_open_to_pages_of_any_origin() {
        let open = |request: lambda_http::http::request::Builder| {
            let request = Request::new(request.body(Body::Empty).unwrap());
            let answer = Response::public(&()).unwrap().open_to_pages(&request);
            header_of(&answer, header::ACCESS_CONTROL_ALLOW_ORIGIN) == Some("*")
        };
        let get = || lambda_http::http::Request::get("/api/timeline");
        assert!(open(get()));
        assert!(!open(get().header("x-api-key", "moments_x")) && !open(get().header("authorization", "Bearer x")));
        assert!(!open(lambda_http::http::Request::post("/api/oauth/code")));
    }

    #[test]
    fn the_next_link_repeats_the_request_with_another_page() {
        let page = Page { limit: "20".parse().unwrap(), number: "2".parse().unwrap() };
        let link = |more| Response::public(&()).unwrap().with_next_page(&request(""), page, more).unwrap();
        assert_eq!(header_of(&link(true), header::LINK), Some("<?artist=a%26b&x=%0D%0A&page=3>; rel=\"next\""));
        assert_eq!(header_of(&link(false), header::LINK), None);
    }
}
