//! The event of a request, in payload format 2.0.

use std::net::SocketAddr;

use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::{
    header::{HeaderMap, HeaderName},
    http::{request::Parts, uri::Authority},
};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

use super::route::Parameters;
use crate::account::ACCOUNT;

/// What the gateway knows of a request besides its parts.
pub(super) struct Arrival<'a> {
    pub(super) stage: &'a str,
    pub(super) route_key: &'a str,
    pub(super) parameters: Parameters,
    pub(super) request_id: &'a str,
    /// `Root=…`.
    pub(super) trace_id: &'a str,
    pub(super) peer: SocketAddr,
}

/// Time in access logs, such as `20/Nov/2026:12:00:00 +0000`.
const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[day]/[month repr:short]/[year]:[hour]:[minute]:[second] +0000");

/// Headers that concern one connection alone.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "expect",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The event; `None` for a `Host` that isn't one.
pub(super) fn event(head: &Parts, body: &[u8], arrival: &Arrival<'_>) -> Option<Value> {
    let host = text(&head.headers, "host")?;
    let domain =
        host.parse::<Authority>().ok().filter(|authority| !authority.as_str().contains('@'))?.host().to_owned();
    let source_ip = source_ip(&head.headers, arrival.peer);
    // The path decoded, and cut where that makes a question mark.
    let path = percent_decode_str(head.uri.path()).decode_utf8_lossy();
    let path = path.split('?').next().unwrap_or_default();
    let now = OffsetDateTime::now_utc();
    let mut http = json!({
        "method": head.method.as_str(),
        "path": path,
        "protocol": format!("{:?}", head.version),
        "sourceIp": source_ip,
    });
    if let Some(agent) = text(&head.headers, "user-agent") {
        http["userAgent"] = agent.into();
    }
    let query = head.uri.query().unwrap_or_default();
    let mut event = json!({
        "version": "2.0",
        "routeKey": arrival.route_key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers(head, body, &source_ip, arrival),
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "local",
            "domainName": domain,
            "domainPrefix": domain.split('.').next().unwrap_or_default(),
            "http": http,
            "requestId": arrival.request_id,
            "routeKey": arrival.route_key,
            "stage": arrival.stage,
            "time": now.format(TIME).unwrap_or_default(),
            "timeEpoch": i64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default(),
        },
        "isBase64Encoded": false,
    });
    let cookies = cookies(&head.headers);
    if !cookies.is_empty() {
        event["cookies"] = cookies.into();
    }
    let parameters = query_parameters(query);
    if !parameters.is_empty() {
        event["queryStringParameters"] = Value::Object(parameters);
    }
    if !arrival.parameters.is_empty() {
        event["pathParameters"] = json!(arrival.parameters);
    }
    if !body.is_empty() {
        let is_text = text(&head.headers, "content-type").is_some_and(|r#type| is_text(&r#type));
        event["isBase64Encoded"] = (!is_text).into();
        event["body"] =
            if is_text { String::from_utf8_lossy(body).into() } else { BASE64_STANDARD.encode(body).into() };
    }
    Some(event)
}

/// A header's values, joined; bytes that aren't UTF-8 are replaced.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<_> =
        headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// The peer's address. What a proxy in front of this one put last into `X-Forwarded-For` stands in for it, so that a
/// test can be many clients.
fn source_ip(headers: &HeaderMap, peer: SocketAddr) -> String {
    let forwarded = text(headers, "x-forwarded-for");
    let last = forwarded.as_deref().and_then(|list| list.rsplit(',').next()).map(str::trim);
    last.filter(|last| !last.is_empty()).map_or_else(|| peer.ip().to_string(), str::to_owned)
}

/// All headers but the cookies: names in lower case, values joined with commas, with those that the gateway adds.
fn headers(head: &Parts, body: &[u8], source_ip: &str, arrival: &Arrival<'_>) -> Map<String, Value> {
    let kept = |name: &&HeaderName| !HOP_BY_HOP.contains(&name.as_str()) && name.as_str() != "cookie";
    let names = head.headers.keys().filter(kept);
    let mut headers: Map<_, _> =
        names.filter_map(|name| Some((name.to_string(), text(&head.headers, name.as_str())?.into()))).collect();
    let host = head.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map_or("80", |(_, port)| port);
    headers.insert("content-length".to_owned(), body.len().to_string().into());
    headers.entry("x-forwarded-for").or_insert_with(|| source_ip.into());
    headers.insert("x-forwarded-port".to_owned(), port.into());
    headers.insert("x-forwarded-proto".to_owned(), "http".into());
    headers.entry("x-amzn-trace-id").or_insert_with(|| arrival.trace_id.into());
    headers
}

fn cookies(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all("cookie").iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let cookies = values.flat_map(|value| value.split(';').map(|cookie| cookie.trim().to_owned()).collect::<Vec<_>>());
    cookies.filter(|cookie| !cookie.is_empty()).collect()
}

/// The query's parameters, decoded; those of one name joined with commas.
fn query_parameters(query: &str) -> Map<String, Value> {
    let decode = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut parameters = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = match parameters.get(&decode(name)).and_then(Value::as_str) {
            Some(others) => format!("{others},{}", decode(value)),
            None => decode(value),
        };
        parameters.insert(decode(name), value.into());
    }
    parameters
}

/// Whether a body of this type is passed on as text; every other one is encoded, even a form.
fn is_text(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.starts_with("text/")
        || ["application/json", "application/xml", "application/javascript"].contains(&essence.as_str())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn event_of(request: hyper::http::request::Builder, body: &[u8]) -> Value {
        let (head, ()) = request.body(()).unwrap().into_parts();
        let arrival = Arrival {
            stage: "api",
            route_key: "GET /things/{id}",
            parameters: [("id".to_owned(), "a b".to_owned())].into(),
            request_id: "r",
            trace_id: "Root=1-2-3",
            peer: ([127, 0, 0, 1], 5000).into(),
        };
        event(&head, body, &arrival).unwrap()
    }

    #[test]
    fn paths_queries_headers_and_cookies_become_those_of_payload_2() {
        let request = Request::get("/api/things/a%20b%3Fc?x=1&y=%20+z&x=2%2C3&flag")
            .header("Host", "api.example.com:3000")
            .header("X-Thing", "one")
            .header("X-Thing", "two")
            .header("Cookie", "a=1; b=2")
            .header("Cookie", "c=3")
            .header("Connection", "keep-alive")
            .header("User-Agent", "curl/8.5.0");
        let event = event_of(request, b"");
        assert_eq!((&event["version"], &event["routeKey"]), (&json!("2.0"), &json!("GET /things/{id}")));
        assert_eq!(event["rawPath"], "/api/things/a b");
        assert_eq!(event["rawQueryString"], "x=1&y=%20+z&x=2%2C3&flag");
        assert_eq!(event["queryStringParameters"], json!({"x": "1,2,3", "y": "  z", "flag": ""}));
        assert_eq!(event["pathParameters"], json!({"id": "a b"}));
        assert_eq!(event["cookies"], json!(["a=1", "b=2", "c=3"]));
        let headers = json!({
            "host": "api.example.com:3000", "x-thing": "one,two", "user-agent": "curl/8.5.0", "content-length": "0",
            "x-forwarded-for": "127.0.0.1", "x-forwarded-port": "3000", "x-forwarded-proto": "http",
            "x-amzn-trace-id": "Root=1-2-3",
        });
        assert_eq!(event["headers"], headers);
        let context = &event["requestContext"];
        assert_eq!(context["domainName"], "api.example.com");
        assert_eq!((&context["stage"], &context["domainPrefix"]), (&json!("api"), &json!("api")));
        let http = json!({
            "method": "GET", "path": "/api/things/a b", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1",
            "userAgent": "curl/8.5.0",
        });
        assert_eq!(context["http"], http);
        let time = context["time"].as_str().unwrap();
        assert!(time.len() == 26 && time.ends_with(" +0000"), "{time}");
        assert!(context["timeEpoch"].as_i64().unwrap() > 1_700_000_000_000);
        assert_eq!((event.get("body"), &event["isBase64Encoded"]), (None, &json!(false)));
    }

    #[test]
    fn only_text_types_are_passed_on_as_text() {
        let of = |r#type: Option<&str>| {
            let request = Request::post("/api/x").header("host", "h");
            let request = r#type.into_iter().fold(request, |request, r#type| request.header("content-type", r#type));
            let event = event_of(request, b"{}");
            (event["isBase64Encoded"].as_bool().unwrap(), event["body"].as_str().unwrap().to_owned())
        };
        for text in ["application/json; charset=utf-8", "TEXT/plain", "application/xml", "application/javascript"] {
            assert_eq!(of(Some(text)), (false, "{}".to_owned()), "{text}");
        }
        for other in
            [Some("application/x-www-form-urlencoded"), Some("image/png"), Some("application/problem+json"), None]
        {
            assert_eq!(of(other), (true, "e30=".to_owned()), "{other:?}");
        }
    }

    #[test]
    fn the_source_is_the_last_forwarder_or_the_peer() {
        let source = |list: Option<&str>| {
            let request = Request::get("/api/x").header("host", "h");
            let event = event_of(list.into_iter().fold(request, |r, list| r.header("x-forwarded-for", list)), b"");
            let ip = event["requestContext"]["http"]["sourceIp"].as_str().unwrap().to_owned();
            assert!(event["headers"]["x-forwarded-for"].as_str().unwrap().ends_with(&ip));
            ip
        };
        assert_eq!(source(None), "127.0.0.1");
        assert_eq!(source(Some("203.0.113.9, 2001:db8::1")), "2001:db8::1");
    }
}
