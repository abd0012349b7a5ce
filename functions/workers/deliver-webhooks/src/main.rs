//! Sends events to webhooks: each minute a run that looks for new ones twice a second.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use deliver_webhooks::Worker;
use lambda_runtime::{Context, LambdaEvent, service_fn};
use serde::Deserialize;
use shared::{http::StartError, telemetry};

/// Time before the function's own end at which a run ends.
const MARGIN: Duration = Duration::from_secs(15);

/// How events are sent. Without any field: until nothing is left to do.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DeliveryRequest {
    /// How long new events are waited for, in seconds; the schedule's event has a minute less two seconds.
    for_seconds: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let worker = Worker::from_env().await?;
    let worker = &worker;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<DeliveryRequest>| async move {
        let until = Instant::now() + time_left(&event.context).saturating_sub(MARGIN);
        let done = worker.run(until, Duration::from_secs(event.payload.for_seconds)).await?;
        Ok::<_, StartError>(done)
    }))
    .await
}

fn time_left(context: &Context) -> Duration {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    end.duration_since(SystemTime::now()).unwrap_or_default()
}
