//! Asynchronous invocations and schedules.

use std::time::Duration;

use local_lambda::{AsyncPolicy, Invocation, Limits, Pace, Rate, Refusal, Schedule};
use serde_json::{Value, json};

use crate::support::{Answer, Gate, request, scratch, service, wait_until};

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn an_event_that_fails_is_tried_three_times_and_then_a_dead_letter() {
    let dead_letters = scratch("dead-letters");
    let lambda = service(Limits::default(), |function| {
        function.asynchronous = AsyncPolicy {
            retry_pause: Duration::from_millis(50),
            dead_letters: Some(dead_letters.clone()),
            ..AsyncPolicy::default()
        };
    })
    .await;
    let event = json!({"do": "fail"});
    let queued = request(&lambda, "probe").header("x-amz-invocation-type", "Event").body(event.to_string());
    let answer = Answer::of(queued).await;
    assert_eq!((answer.status, &answer.body), (202, &json!("")));
    wait_until("a dead letter", || !lines(&dead_letters).is_empty()).await;
    let record = &lines(&dead_letters)[0];
    assert_eq!(record["requestContext"]["condition"], "RetriesExhausted");
    assert_eq!(record["requestContext"]["approximateInvokeCount"], 3);
    assert_eq!(record["requestContext"]["requestId"], answer.header("x-amzn-requestid"));
    assert_eq!(record["requestPayload"], event);
    assert!(record["responsePayload"]["errorMessage"].as_str().unwrap().contains("it failed"), "{record}");
}

#[tokio::test]
async fn events_beyond_the_concurrency_wait_and_none_is_lost() {
    let dead_letters = scratch("throttled");
    let lambda = service(Limits::default(), |function| {
        function.reserved_concurrency = Some(1);
        function.asynchronous =
            AsyncPolicy { max_retries: 0, dead_letters: Some(dead_letters.clone()), ..AsyncPolicy::default() };
    })
    .await;
    let gate = Gate::closed("throttled");
    let queue = async |event: Value| {
        let queued = request(&lambda, "probe").header("x-amz-invocation-type", "Event").body(event.to_string());
        assert_eq!(Answer::of(queued).await.status, 202);
    };
    queue(gate.event()).await;
    gate.holds(1).await;
    queue(json!({"do": "fail"})).await;
    let refused = lambda.invoker().invoke(Invocation::new("probe", "{}")).await;
    assert_eq!((refused, lines(&dead_letters).len()), (Err(Refusal::ReservedConcurrency), 0));
    gate.open();
    wait_until("the second ran and failed", || !lines(&dead_letters).is_empty()).await;
    assert_eq!(lines(&dead_letters)[0]["requestContext"]["approximateInvokeCount"], 1);
}

#[tokio::test]
async fn an_event_too_old_is_given_up() {
    let dead_letters = scratch("too-old");
    let lambda = service(Limits::default(), |function| {
        function.asynchronous = AsyncPolicy {
            // Less than the pause before a retry.
            max_age: Duration::from_secs(1),
            dead_letters: Some(dead_letters.clone()),
            ..AsyncPolicy::default()
        };
    })
    .await;
    let queued = request(&lambda, "probe").header("x-amz-invocation-type", "Event").body(r#"{"do": "fail"}"#);
    assert_eq!(Answer::of(queued).await.status, 202);
    wait_until("a dead letter", || !lines(&dead_letters).is_empty()).await;
    assert_eq!(lines(&dead_letters)[0]["requestContext"]["condition"], "EventAgeExceeded");
    assert_eq!(lines(&dead_letters)[0]["requestContext"]["approximateInvokeCount"], 1);
}

#[tokio::test]
async fn schedules_invoke_at_their_rate_with_the_schedulers_event() {
    let dead_letters = scratch("scheduled");
    let lambda = service(Limits::default(), |function| {
        // A probe that can't start leaves each event as a dead letter.
        function.environment = [("START".to_owned(), "fails".to_owned())].into();
        function.asynchronous =
            AsyncPolicy { max_retries: 0, dead_letters: Some(dead_letters.clone()), ..AsyncPolicy::default() };
    })
    .await;
    let pace = Pace::Rate(Rate(Duration::from_millis(50)));
    lambda.schedule(Schedule { function: "probe".to_owned(), input: None, pace });
    wait_until("three runs", || lines(&dead_letters).len() >= 3).await;
    let event = lines(&dead_letters)[0]["requestPayload"].clone();
    assert_eq!((&event["source"], &event["detail-type"]), (&json!("aws.scheduler"), &json!("Scheduled Event")));
    assert_eq!(event["detail"], "{}");
}
