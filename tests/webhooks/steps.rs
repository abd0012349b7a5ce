//! What a worker was seen doing with each webhook, from its calls of the database and of the receivers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use shared::model::WebhookId;

/// What a worker is at with a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Some of what the logs tell waits already, and their position isn't moved yet.
    FanOutProgress,
    /// Something is to be sent, and hasn't come to the receiver.
    BeforePost,
    /// It has come, and isn't answered.
    AtReceiver,
    /// The receiver took it, and its row doesn't say so.
    Taken,
    /// The receiver refused it, and the next try isn't stored.
    PutOff,
    /// Nothing waits any more, and the queue still has the webhook.
    Finish,
}

impl Phase {
    pub const ALL: [Self; 6] =
        [Self::FanOutProgress, Self::BeforePost, Self::AtReceiver, Self::Taken, Self::PutOff, Self::Finish];
}

/// How many times a phase began, or a call of the database was answered.
type Times = (Option<Phase>, u64);

#[derive(Default)]
struct Seen {
    webhooks: HashMap<String, String>,
    phases: HashMap<String, Phase>,
    is_fanning_out: bool,
    times: BTreeMap<Option<Phase>, u64>,
    stops_at: Option<Times>,
    is_stopped: Arc<AtomicBool>,
}

impl Seen {
    fn enter(&mut self, webhook: &str, phase: Phase) {
        self.phases.insert(webhook.to_owned(), phase);
        self.count(Some(phase));
    }

    fn count(&mut self, what: Option<Phase>) {
        let times = self.times.entry(what).or_default();
        *times += 1;
        if self.stops_at == Some((what, *times)) {
            self.is_stopped.store(true, Ordering::SeqCst);
        }
    }
}

/// The steps of the worker that runs.
#[derive(Clone, Default)]
pub struct Steps(Arc<Mutex<Seen>>);

impl Steps {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("nobody panicked")
    }

    /// The receiver of a webhook has this path.
    pub fn name(&self, webhook: WebhookId, path: &str) {
        self.seen().webhooks.insert(path.to_owned(), webhook.to_string());
    }

    /// Has this be true once the worker is stopped, for its calls of the database.
    pub fn stop_with(&self, is_stopped: &Arc<AtomicBool>) {
        self.seen().is_stopped = Arc::clone(is_stopped);
    }

    /// Another worker begins. From when on something has happened so many times, nothing is answered to it.
    pub fn begin(&self, stops_at: Option<Times>) {
        let mut seen = self.seen();
        seen.phases.clear();
        seen.times.clear();
        (seen.is_fanning_out, seen.stops_at) = (false, stops_at);
        seen.is_stopped.store(false, Ordering::SeqCst);
    }

    pub fn is_stopped(&self) -> bool {
        self.seen().is_stopped.load(Ordering::SeqCst)
    }

    /// Never ends once the worker is stopped.
    pub async fn stop_here(&self) {
        if self.is_stopped() {
            std::future::pending().await
        }
    }

    /// In how many webhooks the worker is in a phase; fan-out is that of all.
    pub fn within(&self, phase: Phase) -> u64 {
        let seen = self.seen();
        let webhooks = seen.phases.values().filter(|at| **at == phase).count() as u64;
        if phase == Phase::FanOutProgress { u64::from(seen.is_fanning_out) } else { webhooks }
    }

    /// A message came to a path.
    pub fn note_message(&self, path: &str) {
        self.note_at(path, Phase::AtReceiver);
    }

    /// A message to a path was answered.
    pub fn note_answer(&self, path: &str, is_taken: bool) {
        self.note_at(path, if is_taken { Phase::Taken } else { Phase::PutOff });
    }

    fn note_at(&self, path: &str, phase: Phase) {
        let mut seen = self.seen();
        if let Some(webhook) = seen.webhooks.get(path).cloned() {
            seen.enter(&webhook, phase);
        }
    }

    /// The database answered a call.
    pub fn note_call(&self, target: &str, request: &[u8], answer: &[u8]) {
        let json = |bytes| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
        let (request, mut seen) = (json(request), self.seen());
        // Signs of life come at times of their own.
        if request["UpdateExpression"] != "SET beat = :beat" {
            seen.count(None);
        }
        match target.rsplit('.').next() {
            Some("Query") => {
                let first = request["ExpressionAttributeValues"][":first"]["S"].as_str().unwrap_or_default();
                if let Some(webhook) = first.strip_suffix("#PENDING#") {
                    let is_empty = json(answer)["Items"].as_array().is_none_or(Vec::is_empty);
                    seen.enter(webhook, if is_empty { Phase::Finish } else { Phase::BeforePost });
                }
            }
            Some("BatchWriteItem") => {
                for row in request["RequestItems"].as_object().into_iter().flat_map(|tables| tables.values()) {
                    note_rows(&mut seen, row.as_array().into_iter().flatten());
                }
            }
            Some("TransactWriteItems") => {
                for row in request["TransactItems"].as_array().into_iter().flatten() {
                    note_part(&mut seen, row);
                }
            }
            Some("DeleteItem") => {
                let key = request["Key"]["sk"]["S"].as_str().unwrap_or_default();
                if let Some((_, webhook)) = key.split_once('#') {
                    seen.phases.remove(webhook);
                }
            }
            _ => {}
        }
    }
}

fn note_rows<'a>(seen: &mut Seen, rows: impl Iterator<Item = &'a Value>) {
    for row in rows {
        let (put, deleted) = (&row["PutRequest"]["Item"], &row["DeleteRequest"]["Key"]["sk"]["S"]);
        if let Some((webhook, _)) = deleted.as_str().and_then(|key| key.split_once('#')) {
            seen.enter(webhook, Phase::BeforePost);
        } else if put["status"]["S"] == "pending" && put["attempts"]["N"] == "0" {
            seen.is_fanning_out = true;
            seen.count(Some(Phase::FanOutProgress));
        }
    }
}

/// A part of a transaction: a log's position is moved, a try put off, or a webhook taken from the queue.
fn note_part(seen: &mut Seen, part: &Value) {
    let key = |row: &Value, name: &str| row[name]["S"].as_str().unwrap_or_default().to_owned();
    let (put, deleted) = (&part["Put"]["Item"], &part["Delete"]["Key"]);
    let webhook = match (key(put, "pk").as_str(), key(deleted, "pk").as_str()) {
        ("FANOUT", _) => {
            seen.is_fanning_out = false;
            return;
        }
        ("WEBHOOKS_FAILING", _) => key(put, "sk"),
        (_, "WEBHOOKS_FAILING" | "WEBHOOKS_READY") => key(deleted, "sk"),
        _ => return,
    };
    seen.phases.remove(webhook.rsplit('#').next().unwrap_or_default());
}
