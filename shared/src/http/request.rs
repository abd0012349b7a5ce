use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lambda_http::{
    RequestExt,
    http::{HeaderMap, Method, header},
    request::RequestContext,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    answer_log::AnswerLog,
    error::ApiError,
    idempotency::IdempotencyKey,
    input::{Ignored, Input},
    rate_limit::RateLimit,
};
use crate::model::{ArtistId, Invalid, KeyId, Scope};

/// Longest body in bytes.
pub const MAX_BODY: usize = 16 * 1024;
/// Longest body in bytes where texts are long or moments many: JSON may write each of a text's 50,000 characters as two
/// escapes of six bytes.
pub const MAX_LARGE_BODY: usize = 640 * 1024;
const NOT_IN_NAMES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// A request from API Gateway (HTTP API, payload version 2).
pub struct Request {
    event: lambda_http::Request,
    id: String,
    limit: Mutex<Option<RateLimit>>,
    ignored: Ignored,
    is_query_read: AtomicBool,
    principal: Mutex<Principal>,
    answer_log: OnceLock<Box<dyn AnswerLog>>,
    trusts_viewer_address: bool,
}

/// Who asks, for the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Principal {
    /// The artist.
    pub artist: Option<ArtistId>,
    /// The API key, unless it is a token.
    pub key: Option<KeyId>,
    /// The scope that was needed.
    pub scope: Option<Scope>,
}

impl Request {
    pub(super) fn new(event: lambda_http::Request) -> Self {
        let id = event.lambda_context_ref().map(|context| context.request_id.clone()).unwrap_or_default();
        Self {
            event,
            id,
            limit: Mutex::default(),
            ignored: Ignored::default(),
            is_query_read: AtomicBool::new(false),
            principal: Mutex::default(),
            answer_log: OnceLock::new(),
            trusts_viewer_address: false,
        }
    }

    /// Id in the logs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Lambda's trace header.
    pub(super) fn trace_header(&self) -> Option<&str> {
        self.event.lambda_context_ref()?.xray_trace_id.as_deref()
    }

    /// Puts the limit with the least left into the answer's headers, whatever the answer.
    pub fn note_limits(&self, limits: &[RateLimit]) {
        let tightest = limits.iter().min_by_key(|limit| limit.left);
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = tightest.copied();
    }

    pub(super) fn limit(&self) -> Option<RateLimit> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names of what was sent and no endpoint read, percent-encoded; `None` if there are none.
    pub(super) fn ignored(&self) -> Option<String> {
        const MOST: usize = 20;
        let mut ignored = self.ignored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !self.is_query_read.load(Ordering::Relaxed) {
            let sent = url::form_urlencoded::parse(self.query_string().as_bytes());
            ignored.extend(sent.map(|(name, _)| name.into_owned()));
        }
        let names: Vec<_> =
            ignored.iter().take(MOST).map(|name| utf8_percent_encode(name, NOT_IN_NAMES).to_string()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Names who asks, for the log.
    pub fn note_principal(&self, principal: Principal) {
        *self.principal.lock().unwrap_or_else(PoisonError::into_inner) = principal;
    }

    pub(super) fn principal(&self) -> Principal {
        *self.principal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the answer noted; the first log that is given counts.
    pub fn note_answer_in(&self, log: Box<dyn AnswerLog>) {
        let _first = self.answer_log.set(log);
    }

    pub(super) fn answer_log(&self) -> Option<&dyn AnswerLog> {
        self.answer_log.get().map(|log| &**log)
    }

    /// Base URL that the gateway was asked at. It isn't the client's word: the gateway answers to its own names alone.
    pub fn base_url(&self) -> String {
        format!("https://{}{}", self.domain().unwrap_or_default(), self.stage())
    }

    /// The gateway's own name that was asked.
    pub fn domain(&self) -> Option<&str> {
        match self.event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.domain_name.as_deref(),
            _ => None,
        }
    }

    /// HTTP method.
    pub fn method(&self) -> &Method {
        self.event.method()
    }

    /// Path with the stage in front.
    pub fn path(&self) -> &str {
        self.event.uri().path()
    }

    /// Method and pattern of the route, such as `GET /collections/{network}/{contract}`; safe to log, unlike the path.
    pub fn route(&self) -> &str {
        match self.event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.route_key.as_deref().unwrap_or_default(),
            _ => "",
        }
    }

    /// What the path has in front of the route's, such as `/api`.
    pub fn stage(&self) -> &str {
        let route = self.route().split_once(' ').map_or("", |(_, path)| path);
        let parts = |path: &str| path.split('/').count();
        let front = parts(self.path()).saturating_sub(parts(route));
        let end = self.path().match_indices('/').map(|(at, _)| at).nth(front).unwrap_or_default();
        &self.path()[..end]
    }

    /// Unix time at which the function is stopped; `None` if nobody says so.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let deadline = self.event.lambda_context_ref()?.deadline;
        (deadline > 0).then(|| Duration::from_millis(deadline))
    }

    /// Whether a person opened the address, or sent a form there: browsers ask for HTML first, and their scripts for something
    /// else.
    pub fn is_opened_in_a_browser(&self) -> bool {
        (*self.method() == Method::GET || self.is_form())
            && self.header("accept").is_some_and(|accept| accept.starts_with("text/html"))
    }

    /// Whether the body is a form's, as browsers send it without a script.
    pub fn is_form(&self) -> bool {
        self.is_sent_as("application/x-www-form-urlencoded")
    }

    /// A header's value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.event.headers().get(name)?.to_str().ok()
    }

    /// The `Idempotency-Key` header; 400 when it is malformed.
    pub fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, ApiError> {
        let mut values = self.event.headers().get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(None) };
        let key = value.to_str().ok().filter(|_| values.next().is_none()).unwrap_or_default().parse();
        key.map(Some).map_err(|error: Invalid| ApiError::bad_request(format!("The Idempotency-Key header {error}")))
    }

    /// The `Valid-Until` header, in Unix seconds; 400 when it is malformed or not after `now`.
    pub fn valid_until(&self, now: u64) -> Result<Option<u64>, ApiError> {
        let mut values = self.event.headers().get_all("valid-until").iter();
        let Some(value) = values.next() else { return Ok(None) };
        let until = value.to_str().ok().filter(|_| values.next().is_none()).and_then(|text| text.parse().ok());
        match until.filter(|until| *until > now && i64::try_from(*until).is_ok()) {
            Some(until) => Ok(Some(until)),
            None => Err(ApiError::bad_request(
                "The Valid-Until header must be given once, as a time to come in Unix seconds",
            )),
        }
    }

    /// Hash of method, path, query and body (as JSON: order doesn't matter), to tell another request with the same key.
    pub fn fingerprint(&self) -> String {
        let body: &[u8] = self.event.body().as_ref();
        let body = serde_json::from_slice::<Value>(body).map_or_else(|_| body.to_vec(), |json| json.to_string().into());
        let mut hash = Sha256::new();
        for part in
            [self.method().as_str(), self.path(), self.query_string()].map(str::as_bytes).into_iter().chain([&*body])
        {
            hash.update(u64::try_from(part.len()).unwrap_or_default().to_be_bytes());
            hash.update(part);
        }
        alloy::hex::encode(hash.finalize())
    }

    /// The query string as sent.
    pub fn query_string(&self) -> &str {
        self.event.uri().query().unwrap_or_default()
    }

    /// Parameters of the query.
    pub fn query(&self) -> Input {
        self.is_query_read.store(true, Ordering::Relaxed);
        let parameters = url::form_urlencoded::parse(self.query_string().as_bytes());
        Input::of_parameters(parameters.map(|(name, value)| (name.into_owned(), value.into_owned())))
            .noting(&self.ignored)
    }

    /// Parameters of the path, percent-decoded, such as `address` of `/artists/{address}`.
    pub fn path_parameters(&self) -> Input {
        let decode = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        let parameters = self.event.path_parameters();
        Input::of_parameters(parameters.iter().map(|(name, value)| (name.to_owned(), decode(value))))
    }

    /// The query string with other values for these parameters.
    pub fn query_with(&self, parameters: &[(&str, String)]) -> String {
        let sent = url::form_urlencoded::parse(self.query_string().as_bytes());
        let others = sent.filter(|(other, _)| parameters.iter().all(|(name, _)| other != name));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).extend_pairs(parameters).finish()
    }

    /// Takes the client's address from the distribution, which the gateway sees in its place.
    pub(super) fn trust_viewer_address(&mut self) {
        self.trusts_viewer_address = true;
    }

    /// The client's network as the distribution or the gateway saw it: the address, or for IPv6 its /64, which one
    /// subscriber has. `X-Forwarded-For` is ignored, since clients set it.
    pub fn client_network(&self) -> String {
        self.client_networks().into_iter().next().map(|(narrowest, _)| narrowest).unwrap_or_default()
    }

    /// The client's networks from the narrowest, each with the number of subscribers that it is counted as: of IPv6 the
    /// /64, the /56 and the /48, since a subscriber may have any of them; of IPv4 the address and the /24.
    pub fn client_networks(&self) -> Vec<(String, u32)> {
        match self.client_address() {
            Ok(IpAddr::V6(address)) => {
                let network = |bits: u32| Ipv6Addr::from_bits(address.to_bits() >> (128 - bits) << (128 - bits));
                [(64, 1), (56, 4), (48, 16)].map(|(bits, count)| (format!("{}/{bits}", network(bits)), count)).into()
            }
            Ok(IpAddr::V4(address)) => {
                let [a, b, c, _] = address.octets();
                vec![(address.to_string(), 1), (format!("{a}.{b}.{c}.0/24"), 16)]
            }
            Err(source) => vec![(source, 1)],
        }
    }

    /// The block of addresses that the client's provider has, with the number of subscribers that it is counted as
    /// where all share one room: of IPv6 the /32, since anybody may have some of its 65,536 /48s; of IPv4 the /16.
    pub fn client_provider(&self) -> Option<(String, u32)> {
        let block = match self.client_address().ok()? {
            IpAddr::V6(address) => format!("{}/32", Ipv6Addr::from_bits(address.to_bits() >> 96 << 96)),
            IpAddr::V4(address) => {
                let [a, b, ..] = address.octets();
                format!("{a}.{b}.0.0/16")
            }
        };
        Some((block, 32))
    }

    /// The widest of [`Request::client_networks`]: nobody who has a part of it is several clients.
    pub fn widest_network(&self) -> String {
        self.client_networks().pop().map(|(widest, _)| widest).unwrap_or_default()
    }

    /// The client's address as the distribution or the gateway saw it; what they said instead if it is none.
    pub fn client_address(&self) -> Result<IpAddr, String> {
        let source = match self.event.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone().unwrap_or_default(),
            _ => String::new(),
        };
        self.viewer_address().map_or_else(|| source.parse().map_err(|_| source), Ok)
    }

    fn viewer_address(&self) -> Option<IpAddr> {
        let header = self.header("cloudfront-viewer-address").filter(|_| self.trusts_viewer_address)?;
        header.rsplit_once(':')?.0.trim_matches(['[', ']']).parse().ok()
    }

    /// Hash of [`Request::client_network`], for rows that last.
    pub fn client_hash(&self) -> String {
        alloy::hex::encode(Sha256::digest(self.client_network()))
    }

    /// The body; 413 over 16 KiB, 415 unless it is sent as JSON, 400 unless it is a JSON object.
    pub fn json(&self) -> Result<Input, ApiError> {
        self.json_of(MAX_BODY)
    }

    /// The same up to [`MAX_LARGE_BODY`].
    pub fn large_json(&self) -> Result<Input, ApiError> {
        self.json_of(MAX_LARGE_BODY)
    }

    fn json_of(&self, max_bytes: usize) -> Result<Input, ApiError> {
        let body = self.body_within(max_bytes)?;
        if body.is_empty() {
            return Err(ApiError::bad_request("The body is empty: send a JSON object"));
        }
        if !self.is_sent_as("application/json") {
            return Err(ApiError::unsupported_media_type());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(values)) => Ok(Input::of_object(values).noting(&self.ignored)),
            Ok(_) => Err(ApiError::bad_request("The body must be a JSON object")),
            Err(error) => Err(ApiError::bad_request(format!("The body is not valid JSON: {error}"))),
        }
    }

    fn is_sent_as(&self, kind: &str) -> bool {
        let sent = self.header(header::CONTENT_TYPE.as_str()).and_then(|sent| sent.split(';').next());
        sent.is_some_and(|sent| sent.trim().eq_ignore_ascii_case(kind))
    }

    /// Fields of a form, without empty ones; 413 over 16 KiB.
    pub fn form(&self) -> Result<Input, ApiError> {
        let given =
            url::form_urlencoded::parse(self.body_within(MAX_BODY)?).filter(|(_, value)| !value.trim().is_empty());
        Ok(Input::of_parameters(given.map(|(name, value)| (name.into_owned(), value.into_owned()))))
    }

    /// The body's bytes; 413 over [`MAX_LARGE_BODY`].
    pub fn body(&self) -> Result<&[u8], ApiError> {
        self.body_within(MAX_LARGE_BODY)
    }

    fn body_within(&self, max_bytes: usize) -> Result<&[u8], ApiError> {
        let body: &[u8] = self.event.body().as_ref();
        if body.len() > max_bytes { Err(ApiError::payload_too_large(max_bytes)) } else { Ok(body) }
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.event.headers()
    }

    /// Whether there is a body.
    pub fn has_body(&self) -> bool {
        !self.event.body().is_empty()
    }

    /// The same for an optional body, which defaults to an empty object.
    pub fn json_or_empty(&self) -> Result<Input, ApiError> {
        if !self.has_body() { Ok(Input::of_object(serde_json::Map::new())) } else { self.json() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lambda_http::{
        Body,
        aws_lambda_events::apigw::ApiGatewayV2httpRequestContext,
        http::{self, Request as HttpRequest},
    };

    use super::*;

    fn request(path: &str, route: &str) -> Request {
        let mut context = ApiGatewayV2httpRequestContext::default();
        context.route_key = Some(route.to_owned());
        of_context(path, context)
    }

    fn request_from(client: &str) -> Request {
        let mut context = ApiGatewayV2httpRequestContext::default();
        context.http.source_ip = Some(client.to_owned());
        of_context("/", context)
    }

    fn of_context(path: &str, context: ApiGatewayV2httpRequestContext) -> Request {
        let event: http::Request<Body> = HttpRequest::post(path).body(Body::Empty).unwrap();
        Request::new(event.with_request_context(RequestContext::ApiGatewayV2(context)))
    }

    #[test]
    fn the_stage_is_what_the_route_does_not_have() {
        for (path, route, stage) in [
            ("/api/moment/create", "POST /moment/create", "/api"),
            ("/moment/create", "POST /moment/create", ""),
            ("/api/collections/eip155:1/erc1155:0x1", "PATCH /collections/{network}/{contract}", "/api"),
        ] {
            assert_eq!(request(path, route).stage(), stage, "{path}");
        }
    }

    #[test]
    fn a_subscribers_65_536_networks_are_in_256_wider_ones_and_in_one() {
        let clients = (0..=u16::MAX).map(|subnet| request_from(&format!("2001:db8:1:{subnet:x}:{subnet:x}::1")));
        let networks: Vec<_> = clients.map(|client| client.client_networks()).collect();
        let distinct = |width: usize| networks.iter().map(|of_client| &of_client[width]).collect::<BTreeSet<_>>().len();
        assert_eq!([0, 1, 2].map(distinct), [65_536, 256, 1]);
        let expected = [("2001:db8:1:ab12::/64", 1), ("2001:db8:1:ab00::/56", 4), ("2001:db8:1::/48", 16)];
        assert_eq!(networks[0xab12], expected.map(|(network, count)| (network.to_owned(), count)));

        let hosts: Vec<_> =
            (0..=u8::MAX).map(|host| request_from(&format!("192.0.2.{host}")).client_networks()).collect();
        let blocks: BTreeSet<_> = hosts.iter().map(|of_client| &of_client[1]).collect();
        assert_eq!(blocks, BTreeSet::from([&("192.0.2.0/24".to_owned(), 16)]));
    }
}
