//! Notes what was answered to requests with an API key, so that its artist sees what a program did.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::{
    http::{AnswerLog, Answered},
    model::{ArtistId, KeyId},
    store::secret::{KeyOwner, KeyRequest, KeyRequests},
    telemetry,
};

/// Requests of a key that a process notes one right after the other.
const BURST: u32 = 30;
/// Seconds after which one more may be noted: what a key costs us is bounded, however often it is sent.
const REFILL: u64 = 2;
/// Keys that a process remembers.
const MOST_KEYS: usize = 10_000;
/// Time that an answer waits for its note.
const PATIENCE: Duration = Duration::from_secs(1);

/// The log of all keys' requests.
#[derive(Clone)]
pub(super) struct KeyLog {
    requests: KeyRequests,
    paces: Arc<Mutex<HashMap<KeyId, Pace>>>,
}

/// Of one key.
struct OfKey {
    log: KeyLog,
    artist: ArtistId,
    key: KeyId,
}

/// A token bucket, and what it turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pace {
    left: u32,
    filled_at: u64,
    skipped: u32,
}

impl KeyLog {
    pub(super) fn new(requests: KeyRequests) -> Self {
        Self { requests, paces: Arc::default() }
    }

    /// The log for one request with a key.
    pub(super) fn of(&self, owner: &KeyOwner) -> Box<dyn AnswerLog> {
        Box::new(OfKey { log: self.clone(), artist: owner.artist_id, key: owner.id })
    }

    /// The number of requests that were turned away before this one; `None` for one that is.
    fn admit(&self, key: KeyId, now: u64) -> Option<u32> {
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        if paces.len() >= MOST_KEYS && !paces.contains_key(&key) {
            paces.clear();
        }
        paces.entry(key).or_insert(Pace { left: BURST, filled_at: now, skipped: 0 }).admit(now)
    }
}

impl Pace {
    fn admit(&mut self, now: u64) -> Option<u32> {
        let refilled = now.saturating_sub(self.filled_at) / REFILL;
        self.left = self.left.saturating_add(u32::try_from(refilled).unwrap_or(BURST)).min(BURST);
        self.filled_at += refilled * REFILL;
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some(std::mem::take(&mut self.skipped))
            }
            None => {
                self.skipped = self.skipped.saturating_add(1);
                None
            }
        }
    }
}

impl AnswerLog for OfKey {
    /// One write, or none where a key is used often. An answer is never lost for it.
    fn note<'a>(&'a self, answered: Answered<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let at = u64::try_from(answered.at.as_millis()).unwrap_or(u64::MAX);
            let Some(skipped) = self.log.admit(self.key, at / 1000) else { return };
            let request = KeyRequest {
                at,
                request_id: answered.request_id.to_owned(),
                route: answered.route.to_owned(),
                status: answered.status.as_u16(),
                message: answered.message.chars().take(500).collect(),
                duration: u64::try_from(answered.duration.as_millis()).unwrap_or(u64::MAX),
                skipped,
            };
            match timeout(PATIENCE, self.log.requests.note(self.artist, self.key, &request)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(request.id = answered.request_id, error = telemetry::chain(&error), "not noted");
                }
                Err(_) => tracing::warn!(request.id = answered.request_id, "not noted in time"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_that_is_used_often_is_noted_now_and_then_with_what_was_left_out() {
        let mut pace = Pace { left: BURST, filled_at: 0, skipped: 0 };
        assert!((0..BURST).all(|_| pace.admit(0) == Some(0)));
        assert_eq!([pace.admit(0), pace.admit(1), pace.admit(REFILL), pace.admit(REFILL)], [None, None, Some(2), None]);
        assert_eq!(pace.admit(1000), Some(1));
        assert_eq!((1..BURST).filter(|_| pace.admit(1000).is_some()).count(), BURST as usize - 1);
        assert_eq!(pace.admit(1000), None);
    }
}
