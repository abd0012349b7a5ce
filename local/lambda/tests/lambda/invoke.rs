//! The Invoke API, and what functions see of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use local_lambda::{Limits, MAX_EVENT, MAX_PAYLOAD};
use serde_json::json;

use crate::support::{Answer, invoke, request, service};

const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_response_and_its_context_are_those_of_lambda() {
    let lambda = service(Limits::default(), |function| {
        function.environment = [("GIVEN".to_owned(), "yes".to_owned())].into();
        (function.memory_size, function.timeout) = (256, TIMEOUT);
    })
    .await;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let before = now();
    let client = request(&lambda, "probe").header("x-amz-client-context", "eyJjdXN0b20iOnsiYSI6ImIifX0=");
    let answer = Answer::of(client.body(json!({"do": "context"}).to_string())).await;
    assert_eq!((answer.status, answer.header("x-amz-executed-version")), (200, "$LATEST"));
    assert_eq!(answer.header("x-amz-function-error"), "");
    let context = &answer.body;
    assert_eq!(context["requestId"], answer.header("x-amzn-requestid"));
    assert_eq!(context["arn"], "arn:aws:lambda:us-east-1:000000000000:function:probe");
    assert!(context["traceId"].as_str().unwrap().starts_with("Root=1-"), "{context}");
    assert_eq!(
        (&context["name"], &context["version"], &context["memory"]),
        (&json!("probe"), &json!("$LATEST"), &json!(256))
    );
    assert_eq!((&context["given"], &context["home"]), (&json!("yes"), &json!(null)), "only its own environment");
    assert_eq!(context["client"]["custom"]["a"], "b");
    let called = Duration::from_millis(context["deadline"].as_u64().unwrap()) - TIMEOUT;
    let sent = Duration::from_millis(u64::try_from(before.as_millis()).unwrap());
    assert!((sent..=now()).contains(&called), "{called:?}");
}

#[tokio::test]
async fn an_error_of_the_function_is_a_200_with_a_header() {
    let lambda = service(Limits::default(), |_| {}).await;
    let answer = invoke(&lambda, &json!({"do": "fail"})).await;
    assert_eq!((answer.status, answer.header("x-amz-function-error")), (200, "Unhandled"));
    assert!(answer.body["errorMessage"].as_str().unwrap().contains("it failed"), "{answer:?}");
    assert!(answer.body["errorType"].is_string(), "{answer:?}");
}

#[tokio::test]
async fn requests_that_lambda_refuses_are_refused() {
    let lambda = service(Limits::default(), |_| {}).await;
    let refusal = async |request: reqwest::RequestBuilder| {
        let answer = Answer::of(request).await;
        let message = answer.body["message"].as_str().or(answer.body["Message"].as_str()).unwrap_or_default();
        (answer.status, answer.header("x-amzn-errortype").to_owned(), message.to_owned())
    };
    let (status, error, message) = refusal(request(&lambda, "nobody")).await;
    assert_eq!((status, error.as_str()), (404, "ResourceNotFoundException"));
    assert_eq!(message, "Function not found: arn:aws:lambda:us-east-1:000000000000:function:nobody");
    let (status, error, message) = refusal(request(&lambda, "probe").body("{")).await;
    assert_eq!((status, error.as_str()), (400, "InvalidRequestContentException"));
    assert!(message.starts_with("Could not parse request body into json"), "{message}");
    let (status, error, _) = refusal(request(&lambda, "probe").header("x-amz-invocation-type", "Later")).await;
    assert_eq!((status, error.as_str()), (400, "InvalidParameterValueException"));
    let large = format!("\"{}\"", "x".repeat(MAX_PAYLOAD - 1));
    let (status, error, _) = refusal(request(&lambda, "probe").body(large)).await;
    assert_eq!((status, error.as_str()), (413, "RequestTooLargeException"));
    let event = format!("\"{}\"", "x".repeat(MAX_EVENT));
    let (status, ..) = refusal(request(&lambda, "probe").header("x-amz-invocation-type", "Event").body(event)).await;
    assert_eq!(status, 413);
}

#[tokio::test]
async fn payloads_of_six_megabytes_pass_both_ways_and_no_larger_response() {
    let lambda = service(Limits::default(), |_| {}).await;
    let answer = invoke(&lambda, &json!({"do": "grow", "bytes": MAX_PAYLOAD})).await;
    assert_eq!((answer.status, answer.body.as_str().map(str::len)), (200, Some(MAX_PAYLOAD)));
    let answer = invoke(&lambda, &json!({"text": "x".repeat(MAX_PAYLOAD - 11)})).await;
    assert_eq!((answer.status, answer.header("x-amz-function-error")), (200, ""), "the echo fits with its envelope");
    let answer = invoke(&lambda, &json!({"do": "grow", "bytes": MAX_PAYLOAD + 100})).await;
    assert_eq!((answer.status, answer.header("x-amz-function-error")), (200, "Unhandled"));
    assert_eq!(answer.body["errorType"], "Function.ResponseSizeTooLarge");
    let answer = invoke(&lambda, &json!({})).await;
    assert_eq!((answer.status, answer.header("x-amz-function-error")), (200, ""));
}

#[tokio::test]
async fn no_payload_is_an_empty_object_and_a_dry_run_runs_nothing() {
    let lambda = service(Limits::default(), |_| {}).await;
    let answer = Answer::of(request(&lambda, "probe").header("x-amz-invocation-type", "DryRun")).await;
    assert_eq!((answer.status, lambda.processes().borrow().len()), (204, 0));
    let answer = Answer::of(request(&lambda, "probe")).await;
    assert_eq!((answer.status, &answer.body["event"]), (200, &json!({})));
}
