//! Sends events to webhooks. Woken by the streams of the tables that hold the logs of events and what artists ask for; a
//! schedule wakes it, too, for later tries and should a stream be late.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use deliver_webhooks::{Delivered, Worker};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Serialize, de::IgnoredAny};
use shared::{
    config::StartError,
    telemetry::{self, trace},
};

/// Time before the function's own end at which a run hands over.
const MARGIN: Duration = Duration::from_secs(15);

/// What the event source mappings expect, and what was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Always empty: a failure fails the run.
    batch_item_failures: [(); 0],
    #[serde(flatten)]
    done: Delivered,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let worker = Worker::from_env().await?;
    let worker = &worker;
    // A record only says that there is something to do: none can be a poisoned one.
    trace::run(move |event: LambdaEvent<IgnoredAny>| async move {
        let until = Instant::now() + time_left(&event.context).saturating_sub(MARGIN);
        let done = worker.run(until).await?;
        Ok::<_, StartError>(Answer { batch_item_failures: [], done })
    })
    .await
}

fn time_left(context: &Context) -> Duration {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    end.duration_since(SystemTime::now()).unwrap_or_default()
}
