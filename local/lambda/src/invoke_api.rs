//! Lambda's Invoke API, version 2015-03-31, for SDKs, `cargo lambda invoke` and other programs.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::{
    invocation::{Invocation, MAX_EVENT, MAX_PAYLOAD, Outcome, Refusal},
    invoker::Invoker,
    server::{self, BodyError, Reply, set_header},
};

/// Payload of an invocation without a body.
const EMPTY: Bytes = Bytes::from_static(b"{}");

pub(crate) async fn answer(invoker: Invoker, request: Request<Incoming>) -> Reply {
    let path = request.uri().path().to_owned();
    let name = path.strip_prefix("/2015-03-31/functions/").and_then(|rest| rest.strip_suffix("/invocations"));
    let Some(name) = name.filter(|_| request.method() == Method::POST).map(function_name) else {
        return error(StatusCode::NOT_FOUND, "UnknownOperationException", "Unknown operation");
    };
    if let Err(error) = invoker.function(&name) {
        return refusal(&error);
    }
    let headers = request.headers().clone();
    let kind = text(&headers, "x-amz-invocation-type").unwrap_or("RequestResponse").to_owned();
    let limit = match kind.as_str() {
        "RequestResponse" | "DryRun" => MAX_PAYLOAD,
        "Event" => MAX_EVENT,
        _ => {
            let message = format!("Value '{kind}' at 'invocationType' failed to satisfy constraint");
            return error(StatusCode::BAD_REQUEST, "InvalidParameterValueException", &message);
        }
    };
    let payload = match server::read(request.into_body(), limit).await {
        Ok(payload) if payload.is_empty() => EMPTY,
        Ok(payload) => payload,
        Err(BodyError::TooLarge) => return refusal(&Refusal::TooLarge(limit)),
        Err(BodyError::Broken) => return refusal(&Refusal::NotJson("the body ended early".to_owned())),
    };
    if let Err(error) = serde_json::from_slice::<Value>(&payload) {
        return refusal(&Refusal::NotJson(error.to_string()));
    }
    let mut invocation = Invocation::new(&name, payload);
    if let Some(trace_id) = text(&headers, "x-amzn-trace-id") {
        trace_id.clone_into(&mut invocation.trace_id);
    }
    invocation.client_context = text(&headers, "x-amz-client-context")
        .and_then(|context| BASE64_STANDARD.decode(context).ok())
        .and_then(|context| String::from_utf8(context).ok());
    let request_id = invocation.request_id.clone();
    let mut reply = match kind.as_str() {
        "DryRun" => empty(StatusCode::NO_CONTENT),
        "Event" => {
            invoker.invoke_later(invocation).map_or_else(|error| refusal(&error), |()| empty(StatusCode::ACCEPTED))
        }
        _ => match invoker.invoke(invocation).await {
            Ok(Outcome::Returned(response)) => payload_reply(response),
            Ok(Outcome::Failed(error)) => {
                let mut reply = payload_reply(error);
                set_header(&mut reply, "x-amz-function-error", "Unhandled");
                reply
            }
            Err(error) => refusal(&error),
        },
    };
    set_header(&mut reply, "x-amzn-requestid", &request_id);
    set_header(&mut reply, "x-amz-executed-version", "$LATEST");
    reply
}

/// A function's name, from its name, `name:qualifier`, partial or whole ARN.
fn function_name(given: &str) -> String {
    let given = percent_decode_str(given).decode_utf8_lossy();
    let unqualified = given.rsplit_once("function:").map_or(&*given, |(_, rest)| rest);
    unqualified.split(':').next().unwrap_or_default().to_owned()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The answer to an invocation that is not run.
pub(crate) fn refusal(refusal: &Refusal) -> Reply {
    let (status, r#type) = refusal.code();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = server::json(status, &refusal.body());
    set_header(&mut reply, "x-amzn-errortype", r#type);
    reply
}

fn error(status: StatusCode, r#type: &str, message: &str) -> Reply {
    let mut reply = server::json(status, &json!({"Type": "User", "message": message}));
    set_header(&mut reply, "x-amzn-errortype", r#type);
    reply
}

fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

fn payload_reply(payload: Bytes) -> Reply {
    let mut reply = Response::new(Full::from(payload));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn functions_are_named_by_name_or_arn_with_or_without_qualifier() {
        for given in [
            "log-in",
            "log-in:$LATEST",
            "log-in%3A1",
            "arn:aws:lambda:us-east-1:000000000000:function:log-in",
            "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Alog-in%3Alive",
            "000000000000:function:log-in",
        ] {
            assert_eq!(function_name(given), "log-in", "{given}");
        }
    }
}
