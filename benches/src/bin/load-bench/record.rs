use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use reqwest::RequestBuilder;

/// Statuses and times by kind.
type Kinds = BTreeMap<&'static str, Vec<(u16, Duration)>>;

/// Requests by kind: their statuses and times. Status 0 is for no answer.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Kinds>>);

impl Record {
    /// Sends a request, notes it and returns its body's text.
    pub async fn send(&self, kind: &'static str, request: RequestBuilder) -> (u16, String) {
        let start = Instant::now();
        let (status, text) = match request.send().await {
            Ok(answer) => (answer.status().as_u16(), answer.text().await.unwrap_or_default()),
            Err(_) => (0, String::new()),
        };
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.entry(kind).or_default().push((status, start.elapsed()));
        (status, text)
    }

    /// What was noted so far; begins anew.
    pub fn take(&self) -> Taken {
        Taken(std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The requests of a phase.
#[derive(Default)]
pub struct Taken(Kinds);

impl Taken {
    /// How many succeeded, of how many.
    pub fn successes(&self) -> (usize, usize) {
        let all = self.0.values().flatten();
        (all.clone().filter(|(status, _)| (200..300).contains(status)).count(), all.count())
    }

    /// The same of one kind.
    pub fn successes_of(&self, kind: &str) -> (usize, usize) {
        let all = self.0.get(kind).into_iter().flatten();
        (all.clone().filter(|(status, _)| (200..300).contains(status)).count(), all.count())
    }

    /// Adds another phase's.
    pub fn add(&mut self, other: Self) {
        for (kind, requests) in other.0 {
            self.0.entry(kind).or_default().extend(requests);
        }
    }

    /// A percentile of a kind's times, in milliseconds; 0 without requests.
    pub fn percentile(&self, kind: &str, percent: usize) -> u128 {
        let mut times: Vec<_> = self.0.get(kind).into_iter().flatten().map(|(_, time)| *time).collect();
        times.sort();
        times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).map_or(0, Duration::as_millis)
    }

    /// Number of answers by status: `200 × 12, 429 × 4`.
    pub fn statuses(&self) -> String {
        let mut counts = BTreeMap::<u16, usize>::new();
        for (status, _) in self.0.values().flatten() {
            *counts.entry(*status).or_default() += 1;
        }
        counts.iter().map(|(status, count)| format!("{status} × {count}")).collect::<Vec<_>>().join(", ")
    }
}
