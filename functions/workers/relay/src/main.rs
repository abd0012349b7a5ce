//! Sends artists' transactions, many in one of a lane. Woken by the stream of the table that holds the queue; a schedule
//! wakes it, too, should the stream be late.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lambda_runtime::{Context, LambdaEvent};
use relay::{Relay, Report, Trigger};
use serde::Serialize;
use shared::{
    config::StartError,
    telemetry::{self, trace},
};

/// Time before the function's own end at which it hands over.
const MARGIN: Duration = Duration::from_secs(10);

/// What the event source mapping expects, and what was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Always empty: a failure fails the run.
    batch_item_failures: [(); 0],
    chains: Vec<Report>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let relay = Relay::from_env().await?;
    let relay = &relay;
    trace::run(move |event: LambdaEvent<Trigger>| async move {
        let until = Instant::now() + time_left(&event.context).saturating_sub(MARGIN);
        let chains = relay.run(&event.payload, until).await?;
        Ok::<_, StartError>(Answer { batch_item_failures: [], chains })
    })
    .await
}

fn time_left(context: &Context) -> Duration {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    end.duration_since(SystemTime::now()).unwrap_or_default()
}
