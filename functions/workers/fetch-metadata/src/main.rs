//! Fetches the metadata documents that the indexer has queued: each minute a run that polls for them every two seconds.

use std::time::Duration;

use fetch_metadata::{Fetcher, Queue};
use lambda_runtime::LambdaEvent;
use serde::Deserialize;
use shared::{
    config::{self, StartError},
    kept_documents::KeptDocuments,
    public_web::Gateways,
    store::{
        artist::ArtistTable,
        chain::{ChainTable, Documents},
        document::{DocumentTable, Library},
    },
    telemetry::{self, trace},
};

/// How long one run takes documents from the queue, at most: the function's timeout less the time of one batch.
const RUN: Duration = Duration::from_secs(58);

/// How documents are fetched. Without any field: those that are due, once.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FetchRequest {
    /// How long new documents are waited for, in seconds; the schedule's event has a minute less two seconds.
    for_seconds: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let kept = KeptDocuments::from_env(&aws, ArtistTable::from_env(&aws)?)?;
    let (documents, library) =
        (Documents::new(ChainTable::from_env(&aws)?), Library::new(DocumentTable::from_env(&aws)?));
    let queue = Queue::new(documents, kept, library, Fetcher::new(Gateways::from_env()?)?);
    let queue = &queue;
    trace::run(move |event: LambdaEvent<FetchRequest>| async move {
        let wait = Duration::from_secs(event.payload.for_seconds);
        queue.follow(RUN, wait).await
    })
    .await
}
