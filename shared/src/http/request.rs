use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
};

use lambda_http::{
    RequestExt,
    http::{Method, header},
    request::RequestContext,
};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{ApiError, Fields, IdempotencyKey, RateLimit};
use crate::model::Invalid;

/// Longest body that is read.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// A request as API Gateway hands it over (HTTP API, payload version 2).
pub struct Request {
    event: lambda_http::Request,
    id: String,
    limit: Mutex<Option<RateLimit>>,
}

impl Request {
    pub(super) fn new(event: lambda_http::Request) -> Self {
        let id = event.lambda_context_ref().map(|context| context.request_id.clone()).unwrap_or_default();
        Self { event, id, limit: Mutex::default() }
    }

    /// The id under which the logs of this request are found.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Notes how far the limits on such requests are used up: of these, the one with the least left. Whatever the answer
    /// will be, it tells that.
    pub fn note_limits(&self, limits: &[RateLimit]) {
        let tightest = limits.iter().min_by_key(|limit| limit.left);
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = tightest.copied();
    }

    pub(super) fn limit(&self) -> Option<RateLimit> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Method of the request.
    pub fn method(&self) -> &Method {
        self.event.method()
    }

    /// Path from the host on, with the stage's name in front.
    pub fn path(&self) -> &str {
        self.event.uri().path()
    }

    /// Method and pattern of the route that was taken, such as `GET /collections/{network}/{contract}`: unlike the path,
    /// it names nothing and nobody.
    pub fn route(&self) -> &str {
        match self.event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.route_key.as_deref().unwrap_or_default(),
            _ => "",
        }
    }

    /// A header's value, if it is there and readable text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.event.headers().get(name)?.to_str().ok()
    }

    /// The key that makes a repetition of this request recognisable, if it brings one.
    ///
    /// # Errors
    /// 400 when its `Idempotency-Key` header can't be one.
    pub fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, ApiError> {
        let mut values = self.event.headers().get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(None) };
        let key = value.to_str().ok().filter(|_| values.next().is_none()).unwrap_or_default().parse();
        key.map(Some).map_err(|error: Invalid| ApiError::bad_request(format!("The Idempotency-Key header {error}")))
    }

    /// What tells this request from another with the same key: a hash of its method, path and body. The body counts as
    /// JSON, so that neither space nor the order of fields makes a difference.
    pub fn fingerprint(&self) -> String {
        let body: &[u8] = self.event.body().as_ref();
        let body = serde_json::from_slice::<Value>(body).map_or_else(|_| body.to_vec(), |json| json.to_string().into());
        let mut hash = Sha256::new();
        for part in [self.method().as_str().as_bytes(), self.path().as_bytes(), &body] {
            hash.update(u64::try_from(part.len()).unwrap_or_default().to_be_bytes());
            hash.update(part);
        }
        alloy::hex::encode(hash.finalize())
    }

    /// The query string as it was sent.
    pub fn query_string(&self) -> &str {
        self.event.uri().query().unwrap_or_default()
    }

    /// The query's parameters.
    pub fn query(&self) -> Fields {
        Fields::from_query(self.query_string())
    }

    /// The path's parameters, such as `address` of `/artists/{address}`, with percent-encoding undone.
    pub fn path_parameters(&self) -> Fields {
        let parameters = self.event.path_parameters();
        let decode = |value: &str| Value::String(percent_decode_str(value).decode_utf8_lossy().into_owned());
        Fields::from_object(parameters.iter().map(|(name, value)| (name.to_owned(), decode(value))).collect())
    }

    /// The query string with `value` for the parameter `name`, and all others as they are.
    pub fn query_with(&self, name: &str, value: impl ToString) -> String {
        let sent = url::form_urlencoded::parse(self.query_string().as_bytes());
        let others = sent.filter(|(other, _)| other != name);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).append_pair(name, &value.to_string()).finish()
    }

    /// The network that the request came from, as the gateway saw it: the address, or for IPv6 its /64, which is what
    /// one subscriber has. `X-Forwarded-For` is the client's own word and is not asked.
    pub fn client_network(&self) -> String {
        let source = match self.event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone().unwrap_or_default(),
            _ => String::new(),
        };
        match source.parse() {
            Ok(IpAddr::V6(address)) => format!("{}/64", Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            _ => source,
        }
    }

    /// The body's fields.
    ///
    /// # Errors
    /// 413 over 16 KiB, 415 unless the content type is JSON, 400 unless it is one JSON object.
    pub fn json(&self) -> Result<Fields, ApiError> {
        self.json_of(MAX_BODY_BYTES)
    }

    /// The body's fields, where it may be longer than others: up to `max_bytes`.
    ///
    /// # Errors
    /// Those of [`Request::json`], but for the limit.
    pub fn json_of(&self, max_bytes: usize) -> Result<Fields, ApiError> {
        let body: &[u8] = self.event.body().as_ref();
        if body.len() > max_bytes {
            return Err(ApiError::payload_too_large(max_bytes));
        }
        if !self.header(header::CONTENT_TYPE.as_str()).is_some_and(is_json) {
            return Err(ApiError::unsupported_media_type());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Fields::from_object(fields)),
            Ok(_) => Err(ApiError::bad_request("The body must be a JSON object")),
            Err(error) => Err(ApiError::bad_request(format!("The body is not valid JSON: {error}"))),
        }
    }

    /// The body's fields, where a body may be left out.
    ///
    /// # Errors
    /// Those of [`Request::json`], unless the body is empty.
    pub fn json_or_empty(&self) -> Result<Fields, ApiError> {
        if self.event.body().is_empty() { Ok(Fields::from_object(serde_json::Map::new())) } else { self.json() }
    }
}

/// Whether a content type is `application/json`, whatever its parameters.
fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
