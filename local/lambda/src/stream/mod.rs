//! Event source mappings of DynamoDB streams. One task reads a shard and deals its records out to consumers by item, so
//! that records of an item stay in order; each consumer invokes the function with one batch after another.

mod client;
mod consumer;
mod filter;

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep},
};

pub(crate) use self::client::Shard;
use self::consumer::Consumer;
pub use self::{
    client::{StreamDatabase, StreamError},
    filter::{InvalidPattern, Pattern},
};
use crate::invoker::Invoker;

/// Pause before an empty shard, or one that can't be read, is read again.
const IDLE: Duration = Duration::from_millis(50);

/// The same for `AWAKE` after a record was read.
const BUSY: Duration = Duration::from_millis(10);
const AWAKE: Duration = Duration::from_secs(1);

/// Most reads, of a thousand records at most, that wait for one consumer; further ones stay in the stream.
const QUEUE: usize = 2;

/// A stream that drives a function.
#[derive(Clone, Debug)]
pub struct StreamMapping {
    /// The function's name.
    pub function: String,
    /// URL of the database's API.
    pub endpoint: String,
    /// The database, if it is in this process.
    pub database: Option<StreamDatabase>,
    /// The stream's ARN.
    pub stream_arn: String,
    /// Where reading starts.
    pub start: StartingPosition,
    /// Most records of an invocation, 1 to 10,000.
    pub batch_size: usize,
    /// Longest wait for a batch to fill, from its first record.
    pub window: Duration,
    /// Batches of a shard at a time, 1 to 10.
    pub parallelization: usize,
    /// Patterns of which a record must match one; without any, all records match.
    pub filters: Vec<Pattern>,
    /// Age beyond which records are given up; `None` for no limit.
    pub max_age: Option<Duration>,
    /// Retries after errors of the function; `None` for no limit.
    pub max_retries: Option<u32>,
    /// Whether a batch that fails is tried again in two halves.
    pub bisects: bool,
    /// Whether the function's response says which records failed (`ReportBatchItemFailures`).
    pub reports_failures: bool,
    /// Pauses before retries: the first, and the longest that doubling leads to.
    pub pauses: (Duration, Duration),
    /// File that descriptions of records given up are appended to, one JSON object a line.
    pub discarded: Option<PathBuf>,
}

/// Where the first record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartingPosition {
    /// The oldest record.
    TrimHorizon,
    /// The first record after the mapping was made.
    Latest,
}

impl StreamMapping {
    /// A mapping with Lambda's defaults: 100 records, no window, one batch at a time, retries without limit.
    pub fn new(function: &str, endpoint: &str, stream_arn: &str, start: StartingPosition) -> Self {
        Self {
            function: function.to_owned(),
            endpoint: endpoint.to_owned(),
            database: None,
            stream_arn: stream_arn.to_owned(),
            start,
            batch_size: 100,
            window: Duration::ZERO,
            parallelization: 1,
            filters: Vec::new(),
            max_age: None,
            max_retries: None,
            bisects: false,
            reports_failures: false,
            pauses: (Duration::from_millis(100), Duration::from_secs(60)),
            discarded: None,
        }
    }

    /// Whether a record passes the filters.
    fn takes(&self, record: &Value) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(record))
    }
}

/// Reads a shard until the service ends.
pub(crate) async fn run(invoker: Invoker, mapping: Arc<StreamMapping>, mut shard: Shard) {
    let mut consumers = JoinSet::new();
    let mut queues = Vec::new();
    for _ in 0..mapping.parallelization.max(1) {
        let (queue, records) = mpsc::channel(QUEUE);
        let consumer = Consumer { invoker: invoker.clone(), mapping: Arc::clone(&mapping), shard_id: shard.id.clone() };
        consumers.spawn(consumer.run(records));
        queues.push(queue);
    }
    let mut newest = None::<Instant>;
    loop {
        let records = shard.read().await.unwrap_or_default();
        if records.is_empty() {
            let is_awake = newest.is_some_and(|newest| newest.elapsed() < AWAKE);
            sleep(if is_awake { BUSY } else { IDLE }).await;
            continue;
        }
        newest = Some(Instant::now());
        let mut dealt: Vec<_> = queues.iter().map(|_| Vec::new()).collect();
        for record in records.into_iter().filter(|record| mapping.takes(&record.event)) {
            let index = usize::try_from(record.item() % queues.len() as u64).unwrap_or_default();
            if let Some(records) = dealt.get_mut(index) {
                records.push(record);
            }
        }
        for (queue, records) in queues.iter().zip(dealt).filter(|(_, records)| !records.is_empty()) {
            // A consumer ends only with the service.
            if queue.send(records).await.is_err() {
                return;
            }
        }
    }
}
