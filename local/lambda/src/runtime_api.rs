//! The runtime API, version 2018-06-01: where instances fetch invocations and leave their results. The path in front,
//! `/<function>/<instance>`, says which instance calls.

use std::{
    future::pending,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    account::function_arn,
    invocation::{MAX_PAYLOAD, Outcome},
    pool::{CallError, Delivery, Pools},
    server::{self, BodyError, Reply, set_header},
};

/// Bytes that a response may have besides [`MAX_PAYLOAD`], for its envelope.
const ENVELOPE: usize = 100;

pub(crate) async fn answer(pools: Arc<Pools>, request: Request<Incoming>) -> Reply {
    let path = request.uri().path().to_owned();
    let mut segments = path.trim_start_matches('/').split('/').skip(1);
    let instance = segments.next().and_then(|id| Uuid::parse_str(id).ok());
    let (Some(id), Some("2018-06-01"), Some("runtime")) = (instance, segments.next(), segments.next()) else {
        return error(StatusCode::NOT_FOUND, "UnknownPath", "Not found");
    };
    let call: Vec<_> = segments.collect();
    match (request.method(), call.as_slice()) {
        (&Method::GET, ["invocation", "next"]) => match pools.next(id) {
            Ok(delivery) => match delivery.await {
                Ok(delivery) => deliver(delivery),
                // The instance is being stopped: an answer would only make it log an error.
                Err(_) => pending().await,
            },
            Err(error) => refused(&error),
        },
        (&Method::POST, ["invocation", request_id, "response"]) => {
            let outcome = match server::read(request.into_body(), MAX_PAYLOAD + ENVELOPE).await {
                Ok(response) => Outcome::Returned(response),
                Err(BodyError::TooLarge) => {
                    let limit = MAX_PAYLOAD + ENVELOPE;
                    let message =
                        format!("Response payload size exceeded maximum allowed payload size ({limit} bytes).");
                    let too_large = Outcome::failed("Function.ResponseSizeTooLarge", &message);
                    // The client hears it from the function error, the runtime from this answer.
                    return match pools.answer(id, request_id, too_large) {
                        Ok(()) => error(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", &message),
                        Err(error) => refused(&error),
                    };
                }
                Err(BodyError::Broken) => return broken(),
            };
            accepted(pools.answer(id, request_id, outcome))
        }
        (&Method::POST, ["invocation", request_id, "error"]) => match error_of(request).await {
            Some(error) => accepted(pools.answer(id, request_id, Outcome::Failed(error))),
            None => broken(),
        },
        (&Method::POST, ["init", "error"]) => match error_of(request).await {
            Some(error) => accepted(pools.init_error(id, error)),
            None => broken(),
        },
        _ => error(StatusCode::NOT_FOUND, "UnknownPath", "Not found"),
    }
}

/// An error as the runtime reports it, or one made of its headers.
async fn error_of(request: Request<Incoming>) -> Option<bytes::Bytes> {
    let r#type = request.headers().get("lambda-runtime-function-error-type");
    let r#type = r#type.and_then(|value| value.to_str().ok()).unwrap_or("Unhandled").to_owned();
    let body = server::read(request.into_body(), MAX_PAYLOAD).await.ok()?;
    let is_json = serde_json::from_slice::<Value>(&body).is_ok();
    Some(if is_json { body } else { json!({"errorType": r#type, "errorMessage": ""}).to_string().into() })
}

fn deliver(delivery: Delivery) -> Reply {
    let Delivery { invocation, timeout } = delivery;
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + timeout;
    let mut reply = Response::new(Full::from(invocation.payload));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    set_header(&mut reply, "lambda-runtime-aws-request-id", &invocation.request_id);
    set_header(&mut reply, "lambda-runtime-deadline-ms", &deadline.as_millis().to_string());
    set_header(&mut reply, "lambda-runtime-invoked-function-arn", &function_arn(&invocation.function));
    set_header(&mut reply, "lambda-runtime-trace-id", &invocation.trace_id);
    if let Some(context) = &invocation.client_context {
        set_header(&mut reply, "lambda-runtime-client-context", context);
    }
    reply
}

fn accepted(outcome: Result<(), CallError>) -> Reply {
    match outcome {
        Ok(()) => server::json(StatusCode::ACCEPTED, &json!({"status": "OK"})),
        Err(error) => refused(&error),
    }
}

fn refused(call_error: &CallError) -> Reply {
    match call_error {
        CallError::UnknownInstance => error(StatusCode::FORBIDDEN, "Forbidden", "Unknown instance"),
        CallError::UnknownRequest => error(StatusCode::BAD_REQUEST, "InvalidRequestID", "Invalid request ID"),
    }
}

fn broken() -> Reply {
    error(StatusCode::BAD_REQUEST, "InvalidBody", "The body ended early")
}

fn error(status: StatusCode, r#type: &str, message: &str) -> Reply {
    server::json(status, &json!({"errorType": r#type, "errorMessage": message}))
}
