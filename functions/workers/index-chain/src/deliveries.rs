//! Which messages of the outbox each chain has stored. A chain that stands still holds up none but itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use shared::{
    model::{ArtistChanged, ChainId},
    store::{StoreError, artist::Outbox},
};
use uuid::Uuid;

/// Messages that are stored together.
const MESSAGES: usize = 100;

/// Longest time from a message's id to its place in the outbox: an id may be older than those that are read already.
const LATEST: Duration = Duration::from_secs(120);

/// The outbox, and how far each chain has taken it. A new process takes all that is left once more.
pub struct Deliveries {
    outbox: Outbox,
    taken: Mutex<BTreeMap<ChainId, BTreeSet<Uuid>>>,
}

impl Deliveries {
    /// Deliveries to these chains.
    pub fn new(outbox: Outbox, chains: impl IntoIterator<Item = ChainId>) -> Self {
        let taken = chains.into_iter().map(|chain| (chain, BTreeSet::new())).collect();
        Self { outbox, taken: Mutex::new(taken) }
    }

    /// Messages that the chain hasn't taken, the oldest first.
    pub async fn pending(&self, chain: ChainId) -> Result<Vec<ArtistChanged>, StoreError> {
        let taken = self.with(|all| all.get(&chain).cloned().unwrap_or_default());
        self.outbox.since(first_pending(&taken), MESSAGES, &taken).await
    }

    /// Records that a chain has stored messages, and deletes those that every chain has. One write for each of these.
    pub async fn taken(&self, chain: ChainId, messages: &[ArtistChanged]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = messages.iter().map(|message| message.id).collect();
        for id in self.with(|all| take(all, chain, &ids)) {
            self.outbox.remove(id).await?;
        }
        Ok(())
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<ChainId, BTreeSet<Uuid>>) -> T) -> T {
        act(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the messages that every chain has taken now.
fn take(all: &mut BTreeMap<ChainId, BTreeSet<Uuid>>, chain: ChainId, ids: &[Uuid]) -> Vec<Uuid> {
    if let Some(taken) = all.get_mut(&chain) {
        taken.extend(ids);
        let first = first_pending(taken);
        *taken = taken.split_off(&first);
    }
    let has = |taken: &BTreeSet<Uuid>, id: &Uuid| taken.contains(id) || *id < first_pending(taken);
    ids.iter().copied().filter(|id| all.values().all(|taken| has(taken, id))).collect()
}

/// The first id that may still be pending where these are taken.
fn first_pending(taken: &BTreeSet<Uuid>) -> Uuid {
    // A UUID v7 begins with its time in milliseconds, in 48 bits.
    let newest = taken.last().map_or(0, Uuid::as_u128) >> 80;
    Uuid::from_u128(newest.saturating_sub(LATEST.as_millis()) << 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(seconds: u128) -> Uuid {
        Uuid::from_u128((seconds * 1_000) << 80 | 7)
    }

    #[test]
    fn message_is_deleted_once_every_chain_has_taken_it() {
        let (live, slow) = (ChainId(1), ChainId(2));
        let mut all = BTreeMap::from([(live, BTreeSet::new()), (slow, BTreeSet::new())]);
        assert!(take(&mut all, live, &[id(1_000), id(1_001)]).is_empty());
        // The live chain goes on, and forgets what is too old to come once more.
        assert!(take(&mut all, live, &[id(5_000)]).is_empty());
        assert_eq!(all[&live], BTreeSet::from([id(5_000)]));
        assert_eq!(take(&mut all, slow, &[id(1_000)]), [id(1_000)]);
        assert_eq!(take(&mut all, slow, &[id(1_001), id(5_000)]), [id(1_001), id(5_000)]);
    }

    #[test]
    fn message_that_arrives_late_is_still_pending() {
        let first = first_pending(&BTreeSet::from([id(1_000)]));
        assert!(first < id(900) && first > id(870));
        assert_eq!(first_pending(&BTreeSet::new()), Uuid::nil());
    }
}
