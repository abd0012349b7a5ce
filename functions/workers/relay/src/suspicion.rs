use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use shared::{model::TransactionId, store::artist::Member};

/// Pause between two attempts of a transaction that nodes would let revert.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Transactions that nodes would let revert.
#[derive(Default)]
pub(crate) struct Suspicions(HashMap<TransactionId, Suspicion>);

struct Suspicion {
    since: Instant,
    tried_at: Instant,
}

impl Suspicions {
    /// Notes that nodes report a revert. Returns whether they have done so for as long as `grace`.
    pub(crate) fn grace_elapsed(&mut self, id: TransactionId, grace: Duration) -> bool {
        let now = Instant::now();
        let suspicion = self.0.entry(id).or_insert(Suspicion { since: now, tried_at: now });
        suspicion.tried_at = now;
        suspicion.since.elapsed() >= grace
    }

    /// Notes that it can't be tried yet, whatever nodes say.
    pub(crate) fn pause(&mut self, id: TransactionId) {
        let now = Instant::now();
        self.0.insert(id, Suspicion { since: now, tried_at: now });
    }

    /// Those that were tried just now.
    pub(crate) fn recent(&self) -> impl Iterator<Item = TransactionId> + '_ {
        let recent = self.0.iter().filter(|(_, suspicion)| suspicion.tried_at.elapsed() < RETRY_PAUSE);
        recent.map(|(id, _)| *id)
    }

    pub(crate) fn clear(&mut self, members: &[Member]) {
        for member in members {
            self.0.remove(&member.transaction_id);
        }
    }
}
