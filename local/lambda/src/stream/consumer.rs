//! Invokes a function with batches of records, and decides by the outcome what is tried again.

use std::{
    collections::{BTreeSet, VecDeque},
    fs::File,
    io::Write,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::{
    sync::mpsc::Receiver,
    time::{Instant, sleep, timeout_at},
};

use super::{StreamMapping, client::Record};
use crate::{
    account::function_arn,
    backoff::backoff,
    invocation::{Invocation, MAX_PAYLOAD, Outcome, Refusal},
    invoker::Invoker,
};

/// Bytes of an event without its records, and more.
const ENVELOPE: usize = 64;

/// Takes the records of some items, in order.
pub(super) struct Consumer {
    pub(super) invoker: Invoker,
    pub(super) mapping: Arc<StreamMapping>,
    pub(super) shard_id: String,
}

/// Records that are sent together, and what came of it so far.
struct Batch {
    records: Vec<Record>,
    retries: u32,
    calls: u32,
    /// Id of the last invocation.
    request_id: Option<String>,
    is_error: bool,
}

/// What to do after an invocation.
enum Next {
    /// All records are done.
    Done,
    /// The same batch again, after a pause.
    Again,
    /// Two halves, at once.
    Halves,
}

/// The service ends.
struct Ended;

impl Consumer {
    /// Invokes the function with one batch after another.
    pub(super) async fn run(self, mut reads: Receiver<Vec<Record>>) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                let Some(records) = reads.recv().await else { return };
                waiting.extend(records);
            }
            let batch = self.gather(&mut waiting, &mut reads).await;
            if let Err(Ended) = self.deliver(batch).await {
                return;
            }
        }
    }

    /// Takes a batch out of the waiting records and those that come within the window.
    async fn gather(&self, waiting: &mut VecDeque<Record>, reads: &mut Receiver<Vec<Record>>) -> Vec<Record> {
        let (until, mut size, mut batch) = (Instant::now() + self.mapping.window, ENVELOPE, Vec::new());
        while batch.len() < self.mapping.batch_size {
            let Some(record) = waiting.pop_front() else {
                let Ok(Some(records)) = timeout_at(until, reads.recv()).await else { break };
                waiting.extend(records);
                continue;
            };
            size += 1 + record.size;
            if size > MAX_PAYLOAD && !batch.is_empty() {
                waiting.push_front(record);
                break;
            }
            batch.push(record);
        }
        batch
    }

    /// Invokes the function until each record is done or given up.
    async fn deliver(&self, records: Vec<Record>) -> Result<(), Ended> {
        // The last one is next.
        let mut batches = vec![Batch { records, retries: 0, calls: 0, request_id: None, is_error: false }];
        while let Some(mut batch) = batches.pop() {
            for pause in backoff(self.mapping.pauses.0, self.mapping.pauses.1) {
                self.discard_expired(&mut batch);
                if batch.records.is_empty() {
                    break;
                }
                match self.attempt(&mut batch).await? {
                    Next::Done => break,
                    Next::Again => sleep(pause).await,
                    Next::Halves => {
                        let second = batch.records.split_off(batch.records.len() / 2);
                        let Batch { retries, calls, is_error, .. } = batch;
                        let request_id = batch.request_id.clone();
                        batches.push(Batch { records: second, retries, calls, request_id, is_error });
                        batches.push(batch);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Invokes the function once.
    async fn attempt(&self, batch: &mut Batch) -> Result<Next, Ended> {
        let records: Vec<_> = batch.records.iter().map(|record| &record.event).collect();
        let invocation = Invocation::new(&self.mapping.function, json!({"Records": records}).to_string());
        let request_id = invocation.request_id.clone();
        let outcome = match self.invoker.invoke(invocation).await {
            Ok(outcome) => outcome,
            Err(Refusal::Unavailable) => return Err(Ended),
            // Throttled, which counts as no try: only age ends it.
            Err(_) => return Ok(Next::Again),
        };
        batch.calls += 1;
        batch.request_id = Some(request_id);
        batch.is_error = matches!(outcome, Outcome::Failed(_));
        let Some(failed) = self.first_failed(&batch.records, &outcome) else { return Ok(Next::Done) };
        batch.records.drain(..failed);
        // Splitting uses up no retry; a response that names the failed record has split the batch there.
        if self.mapping.bisects && failed > 0 {
            return Ok(Next::Again);
        }
        if self.mapping.bisects && batch.records.len() > 1 {
            return Ok(Next::Halves);
        }
        if self.mapping.max_retries.is_some_and(|most| batch.retries >= most) {
            let records = std::mem::take(&mut batch.records);
            self.discard(batch, &records, "RetryAttemptsExhausted");
            return Ok(Next::Done);
        }
        batch.retries += 1;
        Ok(Next::Again)
    }

    /// Index of the first record that has to be sent again.
    fn first_failed(&self, records: &[Record], outcome: &Outcome) -> Option<usize> {
        let response = match outcome {
            Outcome::Failed(_) => return Some(0),
            Outcome::Returned(_) if !self.mapping.reports_failures => return None,
            Outcome::Returned(response) => response,
        };
        // What isn't a list of known records says that all failed.
        let failures = match serde_json::from_slice::<Value>(response) {
            Ok(Value::Null) => return None,
            Ok(Value::Object(mut response)) => match response.remove("batchItemFailures") {
                None | Some(Value::Null) => return None,
                Some(Value::Array(failures)) => failures,
                Some(_) => return Some(0),
            },
            _ => return Some(0),
        };
        let identifiers: Option<BTreeSet<_>> =
            failures.iter().map(|failure| failure["itemIdentifier"].as_str()).collect();
        let Some(identifiers) = identifiers else { return Some(0) };
        let is_failed = |record: &Record| identifiers.contains(record.sequence_number.as_str());
        if records.iter().filter(|record| is_failed(record)).count() < identifiers.len() {
            return Some(0);
        }
        records.iter().position(is_failed)
    }

    /// Gives up the records that are too old, which are the first ones.
    fn discard_expired(&self, batch: &mut Batch) {
        let Some(max_age) = self.mapping.max_age else { return };
        let expired = take_expired(&mut batch.records, max_age, OffsetDateTime::now_utc());
        if !expired.is_empty() {
            self.discard(batch, &expired, "RecordAgeExceeded");
        }
    }

    /// Writes the record that Lambda sends to an on-failure destination.
    fn discard(&self, batch: &Batch, records: &[Record], condition: &str) {
        let (Some(path), [first, ..], [.., last]) = (&self.mapping.discarded, records, records) else { return };
        let time = |time: OffsetDateTime| time.format(&Rfc3339).unwrap_or_default();
        let response = json!({
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": batch.is_error.then_some("Unhandled"),
        });
        let record = json!({
            "requestContext": {
                "requestId": batch.request_id,
                "functionArn": function_arn(&self.mapping.function),
                "condition": condition,
                "approximateInvokeCount": batch.calls,
            },
            "responseContext": batch.request_id.as_ref().map(|_| response),
            "version": "1.0",
            "timestamp": time(OffsetDateTime::now_utc()),
            "DDBStreamBatchInfo": {
                "shardId": self.shard_id,
                "startSequenceNumber": first.sequence_number,
                "endSequenceNumber": last.sequence_number,
                "approximateArrivalOfFirstRecord": time(first.created),
                "approximateArrivalOfLastRecord": time(last.created),
                "batchSize": records.len(),
                "streamArn": self.mapping.stream_arn,
            },
        });
        if let Ok(mut file) = File::options().create(true).append(true).open(path) {
            // A record that can't be written has nowhere else to go.
            let _ = writeln!(file, "{record}");
        }
    }
}

/// Takes out the records that are older, which are the first ones.
fn take_expired(records: &mut Vec<Record>, max_age: Duration, now: OffsetDateTime) -> Vec<Record> {
    let live = records.iter().position(|record| now - record.created <= max_age);
    let live = records.split_off(live.unwrap_or(records.len()));
    std::mem::replace(records, live)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_records_beyond_the_age_expire() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(100);
        let record = |age: u64| {
            let created = now - Duration::from_secs(age);
            Record { event: Value::Null, sequence_number: age.to_string(), created, size: 0 }
        };
        let numbers = |records: &[Record]| records.iter().map(|each| each.sequence_number.clone()).collect::<Vec<_>>();
        for (ages, expired) in [(&[61, 60, 1][..], 1), (&[60, 1], 0), (&[99, 61], 2), (&[], 0)] {
            let mut records: Vec<_> = ages.iter().copied().map(record).collect();
            let all = numbers(&records);
            let taken = take_expired(&mut records, Duration::from_secs(60), now);
            assert_eq!((numbers(&taken), numbers(&records)), (all[..expired].to_vec(), all[expired..].to_vec()));
        }
    }
}
