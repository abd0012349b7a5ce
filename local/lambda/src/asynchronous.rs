//! Asynchronous invocations: queued, retried, and at last recorded as dead letters.

use std::{fs::File, io::Write, sync::Arc, time::Duration};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::{Instant, sleep};

use crate::{
    account::function_arn,
    backoff::backoff,
    function::Function,
    invocation::{Invocation, Outcome, Refusal},
    pool::Pools,
};

/// Pauses after a refusal for want of concurrency: one second, doubled up to five minutes.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// A queued event.
pub(crate) struct Event {
    pub(crate) invocation: Invocation,
    pub(crate) function: Arc<Function>,
    pub(crate) queued: Instant,
}

/// Invokes the function until it succeeds, its retries are used up, or the event is too old.
pub(crate) async fn deliver(pools: Arc<Pools>, event: Event) {
    let policy = &event.function.asynchronous;
    let (mut calls, mut last) = (0, Value::Null);
    for pause in backoff(policy.retry_pause, policy.retry_pause * 2) {
        let mut throttles = backoff(FIRST_PAUSE, LONGEST_PAUSE);
        let outcome = loop {
            match pools.run(event.invocation.clone()).await {
                Err(Refusal::AccountConcurrency | Refusal::ReservedConcurrency) => {}
                // The service ends, or no longer has the function.
                Err(_) => return,
                Ok(outcome) => break Some(outcome),
            }
            // A refusal isn't an attempt: only age ends refusals.
            let wait = throttles.next().unwrap_or(LONGEST_PAUSE);
            if event.queued.elapsed() + wait > policy.max_age {
                break None;
            }
            sleep(wait).await;
        };
        match outcome {
            Some(Outcome::Returned(_)) => return,
            Some(Outcome::Failed(error)) => {
                calls += 1;
                last = serde_json::from_slice(&error).unwrap_or_default();
            }
            None => return give_up(&event, "EventAgeExceeded", calls, &last),
        }
        if calls > policy.max_retries {
            return give_up(&event, "RetriesExhausted", calls, &last);
        }
        if event.queued.elapsed() + pause > policy.max_age {
            return give_up(&event, "EventAgeExceeded", calls, &last);
        }
        sleep(pause).await;
    }
}

/// Writes the record that Lambda sends to an on-failure destination.
fn give_up(event: &Event, condition: &str, calls: u32, last: &Value) {
    let Some(path) = &event.function.asynchronous.dead_letters else { return };
    let record = json!({
        "version": "1.0",
        "timestamp": OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default(),
        "requestContext": {
            "requestId": event.invocation.request_id,
            "functionArn": format!("{}:$LATEST", function_arn(&event.function.name)),
            "condition": condition,
            "approximateInvokeCount": calls,
        },
        "requestPayload": serde_json::from_slice::<Value>(&event.invocation.payload).unwrap_or_default(),
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "responsePayload": last,
    });
    if let Ok(mut file) = File::options().create(true).append(true).open(path) {
        // A record that can't be written has nowhere else to go.
        let _ = writeln!(file, "{record}");
    }
}
