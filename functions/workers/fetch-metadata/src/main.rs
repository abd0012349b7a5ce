//! Fetches the metadata documents that the indexer has queued, on a schedule.

use std::time::Duration;

use fetch_metadata::{Fetcher, Gateways, Queue};
use lambda_runtime::{LambdaEvent, service_fn};
use serde::Deserialize;
use shared::{
    api::media::KeptDocuments,
    config,
    http::StartError,
    store::{Documents, Table},
    telemetry,
};

/// How long one run takes documents from the queue: the function's timeout less the time of one batch.
const RUN: Duration = Duration::from_secs(45);

/// The schedule's event; its content is ignored.
#[derive(Debug, Deserialize)]
struct Tick {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let kept = KeptDocuments::from_env(&aws, Table::artists(&aws)?)?;
    let queue = Queue::new(Documents::new(Table::chain(&aws)?), kept, Fetcher::new(Gateways::from_env()?)?);
    let queue = &queue;
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Tick>| async move { queue.drain(RUN).await })).await
}
