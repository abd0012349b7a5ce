//! The answer that a function's response stands for, in payload format 2.0.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE},
};
use serde_json::{Map, Value};

use crate::server::Reply;

/// Headers that the gateway itself decides on.
const OWN: [&str; 5] = ["connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"];

/// The answer; `None` for a response that the gateway can't make one of, which is its internal error.
pub(super) fn reply(response: &[u8]) -> Option<Reply> {
    match serde_json::from_slice(response).ok()? {
        Value::Object(fields) if fields.contains_key("statusCode") => structured(&fields),
        // Without a status code, the response is the body.
        Value::String(text) => Some(simple(text.into())),
        other => Some(simple(other.to_string().into())),
    }
}

fn simple(body: Bytes) -> Reply {
    let mut reply = Response::new(Full::from(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

fn structured(fields: &Map<String, Value>) -> Option<Reply> {
    let status = match &fields["statusCode"] {
        Value::Number(status) => status.as_u64().and_then(|status| u16::try_from(status).ok()),
        Value::String(status) => status.parse().ok(),
        _ => None,
    };
    let status = StatusCode::from_u16(status?).ok()?;
    let is_encoded = fields.get("isBase64Encoded").and_then(Value::as_bool).unwrap_or_default();
    let body: Bytes = match fields.get("body") {
        None | Some(Value::Null) => Bytes::new(),
        Some(Value::String(body)) if is_encoded => BASE64_STANDARD.decode(body).ok()?.into(),
        Some(Value::String(body)) => body.clone().into(),
        Some(_) => return None,
    };
    let is_empty = body.is_empty();
    let mut reply = Response::new(Full::from(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    for (name, value) in fields.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let value = match value {
            Value::String(value) => value.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => continue,
        };
        let name = HeaderName::try_from(name).ok()?;
        if !OWN.contains(&name.as_str()) {
            headers.insert(name, HeaderValue::try_from(value).ok()?);
        }
    }
    for cookie in fields.get("cookies").and_then(Value::as_array).into_iter().flatten() {
        headers.append(SET_COOKIE, HeaderValue::try_from(cookie.as_str()?).ok()?);
    }
    if !is_empty && !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain;charset=UTF-8"));
    }
    Some(reply)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(response: &Value) -> Option<(u16, String)> {
        let reply = reply(response.to_string().as_bytes())?;
        let r#type = reply.headers().get(CONTENT_TYPE).map(|value| value.to_str().unwrap().to_owned());
        Some((reply.status().as_u16(), r#type.unwrap_or_default()))
    }

    #[test]
    fn defaults_are_those_of_payload_2() {
        assert_eq!(parts(&json!({"message": "hello"})), Some((200, "application/json".to_owned())));
        assert_eq!(parts(&json!("hello")), Some((200, "application/json".to_owned())));
        assert_eq!(parts(&json!({"statusCode": 201})), Some((201, String::new())));
        assert_eq!(
            parts(&json!({"statusCode": "404", "body": "x"})),
            Some((404, "text/plain;charset=UTF-8".to_owned()))
        );
        let html = json!({"statusCode": 200, "body": "x", "headers": {"Content-Type": "text/html"}});
        assert_eq!(parts(&html), Some((200, "text/html".to_owned())));
    }

    #[test]
    fn responses_that_make_no_answer_are_refused() {
        assert_eq!(parts(&json!({"statusCode": "ok"})), None);
        assert_eq!(parts(&json!({"statusCode": 99})), None);
        assert_eq!(parts(&json!({"statusCode": 200, "body": {"a": 1}})), None);
        assert_eq!(parts(&json!({"statusCode": 200, "body": "%", "isBase64Encoded": true})), None);
        assert_eq!(parts(&json!({"statusCode": 200, "headers": {"x": "a\nb"}})), None);
        assert!(reply(b"not json").is_none());
    }

    #[test]
    fn cookies_become_headers_of_their_own() {
        let response = json!({"statusCode": 200, "cookies": ["a=1", "b=2"], "headers": {"content-length": "7"}});
        let reply = reply(response.to_string().as_bytes()).unwrap();
        let cookies: Vec<_> = reply.headers().get_all(SET_COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1", "b=2"]);
        assert!(!reply.headers().contains_key("content-length"));
    }
}
